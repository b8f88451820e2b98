"""What the person began beside the conversation, and may end before its time."""

from textual.worker import Worker


class Running:
    def __init__(self) -> None:
        self._workers: list[Worker[None]] = []

    def add(self, worker: Worker[None]) -> None:
        self._workers = [each for each in self._workers if not each.is_finished]
        self._workers.append(worker)

    def stop(self) -> bool:
        """End the newest one that runs; False when none does."""
        while self._workers:
            worker = self._workers.pop()
            if not worker.is_finished:
                worker.cancel()
                return True
        return False
