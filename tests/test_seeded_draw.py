"""A draw depends on the salt and each id alone, and never changes: training sets and gradings are drawn with it."""

from compass.seeded_draw import draw, draw_key

IDS = [str(number) for number in range(100)]


def test_the_draw_of_a_salt_is_always_the_same():
    assert draw(IDS[:8], 8, 1) == ["0", "4", "3", "2", "5", "6", "1", "7"]
    assert draw(IDS[:8], 8, "1\0draw") == ["7", "6", "2", "4", "3", "0", "1", "5"]
    assert draw_key("a", 0).hex() == "15d8d767d2a6ebd3"


def test_the_order_of_the_ids_and_repeats_do_not_matter():
    assert draw(IDS[::-1] + IDS, 10, 0) == draw(IDS, 10, 0)


def test_a_larger_draw_begins_with_the_smaller():
    assert len(draw(IDS, 10, 0)) == 10
    assert draw(IDS, 20, 0)[:10] == draw(IDS, 10, 0)


def test_a_draw_of_zero_or_of_too_many_is_all():
    assert draw(IDS, 0, 0) == draw(IDS, 100, 0) == draw(IDS, 101, 0)
    assert sorted(draw(IDS, 0, 0)) == sorted(IDS)
