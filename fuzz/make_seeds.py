"""Writes those seeds that are no text: `python3 fuzz/make_seeds.py`. The bytes are the same everywhere."""

from pathlib import Path

SEEDS = Path(__file__).parent / "seeds"


def write(target, name, content):
    (SEEDS / target).mkdir(parents=True, exist_ok=True)
    (SEEDS / target / name).write_bytes(content)


def varint(number):
    content = b""
    while number > 127:
        content += bytes([number & 127 | 128])
        number >>= 7
    return content + bytes([number])


def text(content):
    return varint(len(content)) + content


def field(number, value):
    """A field of a protobuf message: a number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + text(value)


def book():
    """Moves of the start position: e2e4 and d2d4."""
    key = 0x463B961816_91FC9C.to_bytes(8, "big")
    moves = [(0x031C, 3), (0x02DB, 5)]
    entries = [key + move.to_bytes(2, "big") + weight.to_bytes(2, "big") + bytes(4) for move, weight in moves]
    write("book", "book", b"".join(entries))


def trace():
    """The content of a block: a search of one move with two snapshots."""
    fen = b"8/8/8/4k3/8/8/4P3/4K3 w - - 0 1"
    head = bytes(3) + text(fen) + text(b"") + varint(0) + varint(5) + b"\0" + varint(3) + varint(1) + bytes(2)
    moves = varint(1) + text(b"e2e4") + b"\0\0\0\x3f" + varint(0)

    def snapshot(new, total):
        rest = varint(new) + varint(total) + varint(1) + varint(1) + bytes(5) + b"\1\0" + b"\0" + bytes(2)
        return rest + varint(1) + varint(2 * new) + varint(1) + varint(2)

    write("traces", "block", head + moves + varint(2) + snapshot(1, 6) + snapshot(40, 45))


def network():
    """The header of a network without weights, for its first fields to be known."""
    version = field(1, 0) + field(2, 29)
    kind = field(1, 1) + field(2, 2) + field(3, 4) + field(4, 2) + field(5, 2) + field(6, 1) + field(7, 0)
    layer = field(1, b"\0\0\0\0") + field(2, b"\0\0\x80\x3f") + field(3, b"\0\0\xff\xff")
    weights = field(1, field(1, layer) + field(2, layer)) + field(2, field(1, field(1, layer)))
    for encoding in (1, 4):
        header = field(3, version) + field(4, field(1, encoding) + field(2, kind))
        write("network", f"header-{encoding}", b"\x0d\xc0\x01\0\0" + header + field(10, weights))


def onnx():
    """A model with the ends of Lc0's, and a node between them."""

    def end(name, *sizes):
        shape = b"".join(field(1, field(1, size) if size else field(2, b"batch")) for size in sizes)
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))

    node = field(1, b"/input/planes") + field(2, b"/output/policy") + field(4, b"Identity")
    graph = field(1, node) + field(2, b"graph") + field(11, end(b"/input/planes", 0, 112, 8, 8))
    ends = [(b"/output/policy", 1858), (b"/output/wdl", 3), (b"/output/mlh", 1)]
    graph += b"".join(field(12, end(name, 0, size)) for name, size in ends)
    model = field(1, 8) + field(2, b"zeitnot") + field(7, graph) + field(8, field(2, 17))
    model += field(14, field(1, b"input") + field(2, b"1"))
    write("onnx", "model", b"\0" + model)
    write("onnx", "named", b"\x2e" + model)


book()
trace()
network()
onnx()
