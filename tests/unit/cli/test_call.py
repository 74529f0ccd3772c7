"""Show how the words of `wayfare call` become calls, and what is said where they can't."""

from __future__ import annotations

import numpy as np
import pytest

from nodeset.ports import PortDef
from wayfare.cli.call import read_configs
from wayfare.cli.line import CallLineError, Reference, bind_calls, read_line
from wayfare.cli.value import ValueTextError, parse_setting, read_value
from wayfare.evals.errors import SetupError

TOOLS = {
    "look": "-> seen:ARRAY place:TEXT",
    "act": "seen:ARRAY word:TEXT? count:INT? -> action:ACTION",
}


@pytest.fixture
def bind(make_manifest):
    """Give a function from a command line to the bound calls."""
    manifests = {"env": make_manifest("env", TOOLS, config={"gain": 1})}

    def run(line, config=None):
        return bind_calls(read_line(line.split()), manifests, config or {})

    return run


def test_then_stands_between_two_calls():
    first, second = read_line(["env__look", "then", "env__act", "seen=[1]", "word=a=b"])

    assert (first.node_type, first.inputs) == ("env__look", {})
    assert (second.node_type, second.inputs) == ("env__act", {"seen": "[1]", "word": "a=b"})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("then env__look", "a call is missing"),
        ("env__look then", "a call is missing"),
        ("look", "'look' is no tool"),
        ("seen=[1]", "'seen=[1]' is no tool"),
        ("env__look act", "'act' must read port=value"),
        ("env__act seen=[1] seen=[2]", "'seen' is given twice"),
    ],
)
def test_a_line_that_says_no_call_is_refused(line, reason):
    with pytest.raises(CallLineError) as raised:
        read_line(line.split())

    assert reason in str(raised.value)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("env__lok", "nodeset 'env' has no tool 'lok'. Did you mean 'look'?"),
        ("env__act", "env__act input 'seen' (ARRAY): got nothing, due a value."),
        ("env__act see=[1]", "env__act input 'see': there is no such port."),
        ("env__act seen=[1] count=x", "env__act input 'count' (INT): got str 'x', due an integer."),
        ("env__act seen=[[1],2]", "env__act input 'seen' (ARRAY): got '[[1],2]': it can't be made"),
        ("env__act seen=@look.seen", "no earlier call of the line is one of 'look'"),
        ("env__look then env__act seen=@look.sen", "env__look has no output 'sen'"),
        ("env__look then env__act seen=@look.place", "'place' is TEXT, which does not fit"),
    ],
)
def test_what_a_tool_does_not_take_is_said_with_its_ports(bind, line, reason):
    with pytest.raises(CallLineError) as raised:
        bind(line)

    assert reason in str(raised.value)
    if "tool 'lok'" not in reason:
        assert "seen (ARRAY), word (TEXT, optional), count (INT, optional)" in str(raised.value)


def test_an_input_may_be_the_output_of_the_latest_earlier_call(bind):
    calls = bind("env__look then env__look then env__act seen=@look.seen word=@env__look.place")

    assert calls[2].inputs == {"seen": Reference(1, "seen"), "word": Reference(1, "place")}


def test_node_config_goes_to_tools_that_know_the_key(bind):
    assert bind("env__look", {"gain": 2})[0].config == {"gain": 2}
    with pytest.raises(CallLineError, match="--node-config gain: tool 'env__look' takes a number"):
        bind("env__look", {"gain": "x"})
    with pytest.raises(CallLineError, match="--node-config speed: no called tool knows it"):
        bind("env__look", {"speed": 2})


@pytest.mark.parametrize(
    ("wire_type", "text", "value"),
    [
        ("INT", "3", 3),
        ("FLOAT", "-0.5", -0.5),
        ("BOOL", "True", True),
        ("BOOL", "false", False),
        ("TEXT", "go left", "go left"),
        ("TEXT", "7", "7"),
        ("TEXT", '"@home"', "@home"),
        ("JSON", '{"a": [1]}', {"a": [1]}),
        ("LIST[TEXT]", '["a", "b"]', ["a", "b"]),
        ("ACTION", "[0, 1, 0]", [0, 1, 0]),
    ],
)
def test_a_value_is_json_or_text_as_the_port_wants(wire_type, text, value):
    assert read_value(PortDef("p", wire_type), text) == value


@pytest.mark.parametrize(
    ("wire_type", "text", "dtype", "shape"),
    [
        ("IMAGE", "[[[1, 2, 255]]]", np.uint8, (1, 1, 3)),
        ("DEPTH", "[[1, 2.5]]", np.float32, (1, 2)),
        ("POSE", "[0, 0, 0, 0, 0, 0, 1]", np.float64, (7,)),
        ("ARRAY", "[1, 2]", np.int64, (2,)),
        ("ARRAY", '{"dtype": "float32", "shape": [2, 1], "data": [1, 2]}', np.float32, (2, 1)),
        ("ACTION", '{"dtype": "int8", "shape": [1], "data": [1]}', np.int8, (1,)),
    ],
)
def test_arrays_are_typed_as_lists_in_the_ports_dtype(wire_type, text, dtype, shape):
    array = read_value(PortDef("p", wire_type), text)

    assert (array.dtype, array.shape) == (dtype, shape)


@pytest.mark.parametrize("text", ["[[[1, 2, 256]]]", "[[[1, 2, 0.5]]]", "[[[1, 2, -1]]]"])
def test_an_image_takes_whole_numbers_of_a_byte_only(text):
    with pytest.raises(ValueTextError, match="whole numbers from 0 to 255"):
        read_value(PortDef("p", "IMAGE"), text)


def test_arrays_come_from_files(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3.0))

    assert read_value(PortDef("p", "ARRAY"), f"@{tmp_path}/a.npy").tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["none.npy", "text.npy", "list.txt"])
def test_a_file_that_holds_no_array_is_refused(tmp_path, name):
    (tmp_path / "text.npy").write_text("no array")

    with pytest.raises(ValueTextError, match=r"can't be read|holds no array|must be a file"):
        read_value(PortDef("p", "ARRAY"), f"@{tmp_path}/{name}")


def test_configuration_names_nodeset_and_key():
    given = ["env.a=1", "nodesets.env.b=text", "env.a=2", 'policy.c={"d": null}']

    assert read_configs(given) == {"env": {"a": 2, "b": "text"}, "policy": {"c": {"d": None}}}


@pytest.mark.parametrize("text", ["env.a", "a=1", "env.=1", "=1"])
def test_configuration_without_its_parts_is_refused(text):
    with pytest.raises(SetupError, match="must read"):
        read_configs([text])


def test_a_setting_without_a_value_is_refused():
    with pytest.raises(SetupError, match="--node-config 'gain' must read KEY=VALUE"):
        parse_setting("gain", "--node-config")
