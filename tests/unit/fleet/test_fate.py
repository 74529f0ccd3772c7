"""What befell copies in one place puts the next start off, but not for ever longer."""

from wayfare.fleet.member import MAX_PAUSE_SECONDS, Fate


def die(fate, times):
    for _ in range(times):
        fate.note_death(fate.last_pid + 1, "SIGSEGV")
        fate.note_start()


def test_the_first_death_puts_nothing_off():
    fate = Fate()
    die(fate, 1)
    assert fate.pause_seconds() == 0.0


def test_the_pause_grows_with_deaths_in_a_row_and_stays_bounded_however_many_there_are():
    fate = Fate()
    pauses = []
    for _ in range(5000):
        die(fate, 1)
        pauses.append(fate.pause_seconds())
    assert pauses == sorted(pauses)
    assert pauses[-1] == MAX_PAUSE_SECONDS


def test_an_episode_that_came_to_its_end_begins_the_pauses_anew():
    fate = Fate()
    die(fate, 9)
    fate.note_success()
    die(fate, 1)
    assert fate.pause_seconds() == 0.0


def test_the_first_cause_of_starts_that_fail_is_the_last_death_before_them():
    fate = Fate()
    fate.note_death(1, "SIGSEGV")
    fate.note_start()
    fate.note_death(2, "SIGKILL")
    assert fate.first_cause == "SIGKILL"
