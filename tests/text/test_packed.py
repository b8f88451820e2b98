"""A packed list behaves like a list, whatever part of it is packed."""

from hypothesis import given
from hypothesis import strategies as st

from coder_tui.text.packed import PAGE, PackedList

_STEPS = st.lists(st.tuples(st.sampled_from(("add", "pack", "set")), st.integers(0, 4 * PAGE)), max_size=30)


@given(_STEPS)
def test_it_behaves_like_a_list(steps: list[tuple[str, int]]) -> None:
    plain: list[str] = []
    packed: PackedList[str] = PackedList()
    for step, number in steps:
        match step:
            case "add":
                for each in range(number):
                    plain.append(f"{number} {each}")
                    packed.append(f"{number} {each}")
            case "pack":
                packed.unpack_from(number)
            case _ if plain:
                plain[number % len(plain)] = packed[number % len(plain)] = "another"
        assert len(packed) == len(plain)
        assert list(packed) == plain
        assert list(reversed(packed)) == plain[::-1]
        assert packed.since(number) == plain[number:]
        assert not plain or packed[-1] == plain[-1]


def test_packed_items_take_less_memory() -> None:
    items = [f"{number}: {'some words ' * 100}" for number in range(10 * PAGE)]
    packed = PackedList(items)
    packed.unpack_from(len(items))
    assert packed.room < sum(map(len, items)) / 10
    packed.unpack_from(0)
    assert packed.room == 0
    assert list(packed) == items


def test_it_may_be_packed_while_it_is_read() -> None:
    packed = PackedList(range(5 * PAGE))
    seen = []
    for item in packed:
        seen.append(item)
        packed.unpack_from(item)
    assert seen == list(range(5 * PAGE))
