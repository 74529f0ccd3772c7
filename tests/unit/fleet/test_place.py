"""What follows from a nodeset's parallelism and the number of workers."""

import pytest

from wayfare.fleet.place import CopyPlace, UnresolvedNodeSetError, place, resolve


def test_four_workers_get_a_tagged_copy_each_of_a_replicated_nodeset():
    placement = place("env_line", "replicated", 4)
    assert [copy.tag for copy in placement.copies] == [f"env_line#{i}" for i in range(4)]
    assert [copy.workers for copy in placement.copies] == [(0,), (1,), (2,), (3,)]
    assert placement.server_url_overrides[2] == {"env_line": "env_line#2"}
    assert placement.controller_overrides[2] == {"env_line": "env_line#2"}
    assert placement.registry_tag is None


def test_one_worker_gets_an_untagged_copy_and_no_overrides():
    placement = place("env_line", "replicated", 1)
    assert placement.copies == (CopyPlace("env_line", (0,)),)
    assert placement.server_url_overrides == ({},)
    assert placement.registry_tag == "env_line"


@pytest.mark.parametrize("worker_count", [1, 2, 64])
def test_a_shared_nodeset_has_one_copy_however_many_workers_there_are(worker_count):
    placement = place("policy", "shared", worker_count)
    assert placement.copies == (CopyPlace("policy", tuple(range(worker_count))),)
    assert placement.server_url_overrides == ({},) * worker_count
    assert placement.registry_tag == "policy"


def test_parallelism_decides_preflight_order_coalescing_and_what_a_death_means():
    replicated = place("env", "replicated", 2)
    shared = place("env", "shared", 2)
    assert (replicated.preflight, shared.preflight) == (True, False)
    assert (replicated.ordered, shared.ordered) == (True, False)
    assert (replicated.coalesced, shared.coalesced) == (False, True)
    assert (replicated.on_death, shared.on_death) == ("end_attempt", "resend")
    assert (replicated.default_threads, shared.default_threads) == (1, None)


def test_consequences_other_than_copies_do_not_depend_on_the_number_of_workers():
    one, many = place("env", "replicated", 1), place("env", "replicated", 8)
    assert (one.preflight, one.ordered, one.on_death) == (
        many.preflight,
        many.ordered,
        many.on_death,
    )


def test_fewer_than_one_worker_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        place("env", "shared", 0)


def test_a_parallelism_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match=r"'sharded'.*'replicated' or 'shared'"):
        place("env", "sharded", 2)


def test_an_override_goes_before_the_registry():
    assert resolve("env", {"env": "env#3"}, {"env": "env"}) == "env#3"
    assert resolve("env", {}, {"env": "env"}) == "env"


def test_a_nodeset_without_a_copy_is_named():
    with pytest.raises(UnresolvedNodeSetError, match="'policy'"):
        resolve("policy", {"env": "env#0"}, {})
