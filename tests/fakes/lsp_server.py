"""A language server that behaves as its first argument says; only the standard library, run by itself.

Each `bad` in a text is an error, each `odd` a warning. The behaviours are the methods of `Server`.
"""

import json
import os
import queue
import re
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

Json = Any
_WORDS = {"bad": 1, "odd": 2}


def send(message: Json) -> None:
    data = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
    sys.stdout.buffer.flush()


def stutter() -> None:
    """A message that is none."""
    sys.stdout.buffer.write(b"Content-Length: 7\r\n\r\n{oops}}")
    sys.stdout.buffer.flush()


def receive() -> Json | None:
    length = 0
    while (line := sys.stdin.buffer.readline()).strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(sys.stdin.buffer.read(length)) if length else None


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def found(text: str) -> list[Json]:
    items = []
    for number, line in enumerate(text.split("\n")):
        for match in re.finditer(r"bad|odd", line):
            start, end = units(line[: match.start()]), units(line[: match.end()])
            places = {
                "start": {"line": number, "character": start},
                "end": {"line": number, "character": end},
            }
            severity = _WORDS[match[0]]
            items.append(
                {
                    "range": places,
                    "message": f"{match[0]} word",
                    "severity": severity,
                    "code": "W",
                    "source": "fake",
                }
            )
    return items


# Answers to a question for findings that say nothing of them.
ODD_PULLS: Json = {
    "null": None,
    "unchanged": {"kind": "unchanged", "resultId": "1"},
    "nonsense": {"kind": "full", "items": [{"range": "everywhere", "message": 7}]},
}


# Handed out on request: as they are; late; in part (the rest is published when it is saved); none without a
# file `strict`, looked for at the start or each time; only where another open text has them, too.
PULLED = frozenset({"pull", "lazy", "both", "strict", "settings", "linked"})


class Server:
    def __init__(self, behaviour: str) -> None:
        self.behaviour = behaviour
        self.texts: dict[str, str] = {}
        self.version = 0
        self.refused = 0
        self.asked: dict[int, str] = {}
        self.answers: dict[str, Json] = {}
        self.is_strict = Path("strict").exists()
        self.waiting: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
        if behaviour == "serial":
            threading.Thread(target=self.think_in_turn, daemon=True).start()

    def think_in_turn(self) -> None:
        """About each text for a while, and about the next one only then."""
        while True:
            uri, text = self.waiting.get()
            time.sleep(0.3)
            self.publish(uri, None, found(text))

    def capabilities(self) -> Json:
        named: Json = {
            "textDocumentSync": {"openClose": True, "change": 1, "save": {"includeText": True}},
            "definitionProvider": True,
            "hoverProvider": True,
            "referencesProvider": True,
            "documentSymbolProvider": True,
            "workspaceSymbolProvider": True,
        }
        if self.behaviour in PULLED or self.behaviour in ODD_PULLS:
            depends = self.behaviour == "linked"
            named["diagnosticProvider"] = {"interFileDependencies": depends, "workspaceDiagnostics": False}
        return named

    def publish(self, uri: str, version: int | None, items: list[Json]) -> None:
        params: Json = {"uri": uri, "diagnostics": items}
        if version is not None:
            params["version"] = version
        send({"method": "textDocument/publishDiagnostics", "params": params})

    def opened(self, uri: str, version: int, text: str) -> None:
        before, self.version = self.texts.get(uri, ""), version
        self.texts[uri] = text
        match self.behaviour:
            case "mute" | "register" | "never":
                return
            case handed if handed in PULLED or handed in ODD_PULLS:
                return
            case "serial":
                self.waiting.put((uri, text))
            case "busy":
                self.tell_progress("begin")
                self.publish(uri, version, [])
                threading.Timer(0.5, self.end_work, (uri, version, text)).start()
            case "once" if version > 1:
                return
            case "late":
                # The first version is answered only after the second.
                if version > 1:
                    self.publish(uri, version, found(text))
                    self.publish(uri, version - 1, found(before))
            case "unversioned":
                self.publish(uri, None, found(text))
            case "twice":
                self.publish(uri, version, [])
                threading.Timer(0.05, self.publish, (uri, version, found(text))).start()
            case "flood":
                place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
                items = [
                    {"range": place, "message": f"number {n}", "severity": 1 + n % 4} for n in range(10_000)
                ]
                self.publish(uri, version, items)
            case "crash" if "crash" in text:
                os.kill(os.getpid(), signal.SIGKILL)
            case "tardy" if version > 1:
                # Longer than anybody ever waits for a change.
                threading.Timer(5.5, self.publish, (uri, version, found(text))).start()
            case "hesitant" if version > 1:
                # As "tardy", and first without what it finds.
                threading.Timer(5.5, self.publish, (uri, version, [])).start()
                threading.Timer(5.6, self.publish, (uri, version, found(text))).start()
            case "slow":
                threading.Timer(0.6, self.publish, (uri, version, found(text))).start()
            case "ask":
                self.ask_all()
            case "stutter":
                stutter()
                self.publish(uri, version, found(text))
            case _:
                self.publish(uri, version, found(text))

    def tell_progress(self, kind: str) -> None:
        value = {"kind": kind, "title": "looking at everything"}
        send({"method": "$/progress", "params": {"token": "t", "value": value}})

    def end_work(self, uri: str, version: int, text: str) -> None:
        self.publish(uri, version, found(text))
        self.tell_progress("end")

    def handed_out(self, uri: str) -> list[Json]:
        items = found(self.texts[uri])
        match self.behaviour:
            case "both":
                return [item for item in items if item["severity"] > 1]
            case "strict":
                return items if self.is_strict else []
            case "settings":
                return items if Path("strict").exists() else []
            case "linked":
                others = (text for other, text in self.texts.items() if other != uri)
                return items if any("bad" in text for text in others) else []
            case _:
                return items

    def ask_all(self) -> None:
        """Ask all that a server may ask; the answers come back as findings."""
        asked: list[tuple[str, Json]] = [
            ("workspace/configuration", {"items": [{"section": "fake.depth"}, {"section": "other"}]}),
            ("workspace/workspaceFolders", None),
            ("client/registerCapability", {"registrations": [{"id": "r", "method": "textDocument/hover"}]}),
            (
                "client/unregisterCapability",
                {"unregisterations": [{"id": "r", "method": "textDocument/hover"}]},
            ),
            ("window/workDoneProgress/create", {"token": "t"}),
            ("window/showMessageRequest", {"type": 1, "message": "?", "actions": [{"title": "yes"}]}),
            ("workspace/applyEdit", {"edit": {"changes": {}}}),
            ("workspace/diagnostic/refresh", None),
            ("fake/unheardOf", {"x": 1}),
        ]
        for number, (method, params) in enumerate(asked, 100):
            self.asked[number] = method
            send({"id": number, "method": method, **({} if params is None else {"params": params})})

    def answered(self, message: Json) -> None:
        if self.behaviour != "ask":
            return
        self.answers[self.asked[message["id"]]] = message.get("result", message.get("error"))
        if len(self.answers) == len(self.asked):
            place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
            items = [{"range": place, "message": json.dumps(self.answers)}]
            self.publish(next(iter(self.texts)), None, items)

    def initialize(self, number: int) -> None:
        match self.behaviour:
            case "never":
                return
            case "garbage":
                stutter()
                return
            case "stderr":
                sys.stderr.write("noise " * 200_000 + "\nthe last words\n")
                sys.stderr.flush()
        send({"id": number, "result": {"capabilities": self.capabilities()}})

    def refuses(self, number: int) -> bool:
        """`busy` wants to be asked a third time, `unwilling` not at all."""
        self.refused += 1
        errors: Json = {
            "busy": {"code": -32801, "message": "content modified"},
            "unwilling": {"code": -32603, "message": "no such index"},
        }
        error = errors.get(self.behaviour)
        is_refused = error is not None and not (self.behaviour == "busy" and self.refused > 2)
        if is_refused:
            send({"id": number, "error": error})
        return is_refused

    def initialized(self) -> None:
        if self.behaviour == "register":
            registration = {"id": "d", "method": "textDocument/diagnostic", "registerOptions": {}}
            self.asked[1] = "client/registerCapability"
            message = {"id": 1, "method": "client/registerCapability"}
            params = {"registrations": [registration]}
            threading.Timer(2.0, send, ({**message, "params": params},)).start()

    def request(self, message: Json) -> None:
        number, params = message["id"], message.get("params") or {}
        uri = params.get("textDocument", {}).get("uri", "")
        here = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
        result: Json = None
        match message["method"]:
            case "initialize":
                self.initialize(number)
                return
            case "shutdown":
                if self.behaviour == "stubborn":
                    return
            case "textDocument/diagnostic":
                whole = {"kind": "full", "items": self.handed_out(uri)}
                result = ODD_PULLS.get(self.behaviour, whole)
                if self.behaviour == "lazy":
                    threading.Timer(0.4, send, ({"id": number, "result": result},)).start()
                    return
            case "textDocument/definition" if self.refuses(number):
                return
            case "textDocument/definition" if self.behaviour == "strange":
                result = [{"uri": "file://[x", "range": here}]
            case "textDocument/definition":
                at = params["position"]
                place = {"start": at, "end": at}
                result = [{"targetUri": uri, "targetRange": place, "targetSelectionRange": place}]
            case "textDocument/references":
                result = [{"uri": uri, "range": here}, {"uri": "file:///etc/hostname", "range": here}]
            case "textDocument/hover":
                if self.behaviour == "wait":
                    return
                result = {"contents": [{"language": "python", "value": "x: int"}, "A word."]}
            case "textDocument/documentSymbol":
                child = {"name": "inner", "kind": 12, "range": here, "selectionRange": here}
                result = [
                    {"name": "Outer", "kind": 5, "range": here, "selectionRange": here, "children": [child]}
                ]
            case "workspace/symbol":
                location = {"uri": next(iter(self.texts), ""), "range": here}
                result = [{"name": params["query"], "kind": 13, "location": location, "containerName": "m"}]
        send({"id": number, "result": result})

    def notification(self, method: str, params: Json) -> None:
        match method:
            case "initialized":
                self.initialized()
            case "exit":
                if self.behaviour != "stubborn":
                    sys.exit(0)
            case "textDocument/didOpen":
                document = params["textDocument"]
                self.opened(document["uri"], document["version"], document["text"])
            case "workspace/didChangeWatchedFiles" if self.behaviour == "watching":
                kinds = [f"{each['type']} {each['uri'].rpartition('/')[2]}" for each in params["changes"]]
                place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
                items = [{"range": place, "message": ", ".join(kinds)}]
                self.publish(next(iter(self.texts)), self.version, items)
            case "textDocument/didSave" if self.behaviour in {"saves", "both"}:
                uri = params["textDocument"]["uri"]
                items = [
                    item
                    for item in found(self.texts[uri])
                    if self.behaviour == "saves" or item["severity"] == 1
                ]
                self.publish(uri, self.version, items)
            case "textDocument/didClose":
                uri = params["textDocument"]["uri"]
                self.texts.pop(uri, None)
                # Like many servers: earlier reports about it are no longer valid.
                self.publish(uri, None, [])
            case "textDocument/didChange":
                document = params["textDocument"]
                self.opened(document["uri"], document["version"], params["contentChanges"][0]["text"])

    def serve(self) -> None:
        while (message := receive()) is not None:
            if "method" not in message:
                self.answered(message)
            elif "id" in message:
                self.request(message)
            else:
                self.notification(message["method"], message.get("params"))


def main(behaviour: str) -> None:
    if behaviour == "broken":
        sys.stderr.write("no such module: fake\n")
        sys.exit(3)
    if behaviour == "chatty":
        sys.stdout.write("Welcome to the fake server!\nLoading... ")
        sys.stdout.flush()
    if behaviour == "muttering":
        sys.stderr.write("first words\nsecond thoughts\n")
        sys.stderr.flush()
    if behaviour == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Server(behaviour).serve()
    while behaviour == "stubborn":
        time.sleep(60)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
