"""Server-sent events as they come from the network, in reads of any size."""


class SseParser:
    """Collects bytes and gives back the data of finished events. Linear: an unfinished line is joined only once."""

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of every event that this read finished; comments, ids and event names are passed over."""
        head, newline, rest = chunk.partition(b"\n")
        if not newline:
            self._line.append(chunk)
            return []
        self._line.append(head)
        lines = rest.split(b"\n")
        lines.insert(0, b"".join(self._line))
        self._line = [lines.pop()]
        events: list[bytes] = []
        for line in lines:
            self._take(line, events)
        return events

    def finish(self) -> list[bytes]:
        """The data of a last event that no blank line ended."""
        events: list[bytes] = []
        self._take(b"".join(self._line), events)
        self._line = []
        self._take(b"", events)
        return events

    def _take(self, line: bytes, events: list[bytes]) -> None:
        line = line.removesuffix(b"\r")
        if not line:
            if self._data:
                events.append(self._data[0] if len(self._data) == 1 else b"\n".join(self._data))
                self._data = []
        elif line.startswith(b"data:"):
            self._data.append(line[6:] if line[5:6] == b" " else line[5:])
