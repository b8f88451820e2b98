"""What a model's call comes to by its list price, for the time before its bill."""

from collections.abc import Awaitable, Callable

from coder_tui.llm.model_info import ModelInfo
from coder_tui.protocol.errors import ModelError
from coder_tui.protocol.usage import Usage

_PER_MILLION = 1_000_000


async def nobody_knows(model: str, api_base: str) -> ModelInfo:
    """For models that have no price."""
    return ModelInfo()


class Prices:
    """Asks once for each model."""

    def __init__(self, info: Callable[[str, str], Awaitable[ModelInfo]] = nobody_knows) -> None:
        self._info = info
        self._known: dict[tuple[str, str], ModelInfo] = {}

    async def cost(self, model: str, api_base: str, usage: Usage) -> float | None:
        """Dollars, as if nothing came from a cache; None where no price is known."""
        return _cost(await self._of(model, api_base), usage)

    def known_cost(self, model: str, api_base: str, usage: Usage) -> float | None:
        """The same where the price was asked for before: for those who cannot wait."""
        return _cost(self._known.get((model, api_base), ModelInfo()), usage)

    async def _of(self, model: str, api_base: str) -> ModelInfo:
        if (model, api_base) not in self._known:
            try:
                self._known[model, api_base] = await self._info(model, api_base)
            except ModelError:
                # Whoever asks the model itself will be told what is wrong with it.
                return ModelInfo()
        return self._known[model, api_base]


def _cost(info: ModelInfo, usage: Usage) -> float | None:
    if info.input_cost is None or info.output_cost is None:
        return None
    return (usage.input_tokens * info.input_cost + usage.output_tokens * info.output_cost) / _PER_MILLION
