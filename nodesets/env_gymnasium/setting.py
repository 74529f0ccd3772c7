"""Read what a configuration asks for: which environment, which episodes, what counts as success.

Knows nothing of how an episode is run.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Mapping

import gymnasium
from gymnasium.envs.registration import EnvSpec, load_env_creator

from nodeset import ContractError
from nodeset.metrics import SUCCESS_RULES

INFO_PREFIX = "info:"
SEEDINGS = ("index", "episode")
DEFAULT_CONFIG: dict[str, Any] = {
    "id": "MiniGrid-FourRooms-v0",
    "kwargs": {},
    "wrappers": [],
    "imports": [],
    "episodes": 100,
    "split": "test",
    "seeding": "index",
    "seed_base": 0,
    "success": None,
    "max_episode_steps": None,
}
# Packages that register their ids when they are imported, by the ids' prefix.
_REGISTERED_BY = {"MiniGrid-": "minigrid", "BabyAI-": "minigrid"}
# Minigrid pays a reward on success alone, and its time limit pays nothing.
_SUCCESS_BY = {"MiniGrid-": "positive_return", "BabyAI-": "positive_return"}


@dataclass(frozen=True)
class Setting:
    """A checked configuration.

    `success` is a rule of `nodeset.metrics` or `info:KEY`: the truth of that entry of the last
    step's info. `wrappers` are `module:Class`, applied in their order.
    """

    id: str
    kwargs: Mapping[str, Any]
    wrappers: tuple[str, ...]
    imports: tuple[str, ...]
    episodes: int
    split: str
    seeding: str
    seed_base: int
    success: str
    max_episode_steps: int | None

    def make(self) -> gymnasium.Env[Any, Any]:
        """Make the environment, with frames on demand where it has them; never with autoreset."""
        for module in self.imports:
            importlib.import_module(module)
        spec = gymnasium.spec(self.id)
        environment: gymnasium.Env[Any, Any] = gymnasium.make(
            spec,
            max_episode_steps=self.max_episode_steps,
            disable_env_checker=True,
            **{**self._render_mode(spec), **self.kwargs},
        )
        for wrapper in self.wrappers:
            environment = _wrapper_class(wrapper)(environment)
        return environment

    @staticmethod
    def _render_mode(spec: EnvSpec) -> dict[str, str]:
        entry = spec.entry_point
        creator = load_env_creator(entry) if isinstance(entry, str) else entry
        modes = getattr(creator, "metadata", {}).get("render_modes", [])
        return {"render_mode": "rgb_array"} if "rgb_array" in modes else {}


def read_setting(config: Mapping[str, Any]) -> Setting:
    """Check a configuration whose keys are those of `DEFAULT_CONFIG`; raises ContractError."""
    module, _, env_id = _text(config, "id").rpartition(":")
    seeding = _one_of(config, "seeding", SEEDINGS)
    return Setting(
        id=env_id,
        kwargs=_mapping(config, "kwargs"),
        wrappers=_names(config, "wrappers"),
        imports=_imports(config, env_id, module),
        episodes=_whole(config, "episodes", 1),
        split=_text(config, "split"),
        seeding=seeding,
        seed_base=_whole(config, "seed_base", 0),
        success=_success_rule(config, env_id),
        max_episode_steps=_limit(config),
    )


def _imports(config: Mapping[str, Any], env_id: str, module: str) -> tuple[str, ...]:
    """Return the modules that register ids; `id` may name one itself, as Gymnasium's ids do."""
    named = (module,) if module else ()
    return (*_names(config, "imports"), *named, *_by_prefix(env_id, _REGISTERED_BY))


def _by_prefix(env_id: str, table: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(value for prefix, value in table.items() if env_id.startswith(prefix))


def _success_rule(config: Mapping[str, Any], env_id: str) -> str:
    rule = config["success"]
    if rule is None:
        return (*_by_prefix(env_id, _SUCCESS_BY), "reported")[0]
    if isinstance(rule, str) and rule.startswith(INFO_PREFIX) and len(rule) > len(INFO_PREFIX):
        return rule
    return _one_of(config, "success", (*SUCCESS_RULES, f"{INFO_PREFIX}KEY"))


def _limit(config: Mapping[str, Any]) -> int | None:
    key = "max_episode_steps"
    return None if config[key] is None else _whole(config, key, 1)


def _wrapper_class(path: str) -> Any:
    module, _, name = path.partition(":")
    found = getattr(importlib.import_module(module), name, None)
    if not isinstance(found, type) or not issubclass(found, gymnasium.Wrapper):
        raise _refusal("wrappers", path, "it must name a gymnasium.Wrapper as module:Class")
    return found


def _text(config: Mapping[str, Any], key: str) -> str:
    if not isinstance(config[key], str) or not config[key]:
        raise _refusal(key, config[key], "it must be text")
    return str(config[key])


def _one_of(config: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    if config[key] not in allowed or config[key] == f"{INFO_PREFIX}KEY":
        raise _refusal(key, config[key], f"it must be one of {', '.join(allowed)}")
    return str(config[key])


def _whole(config: Mapping[str, Any], key: str, least: int) -> int:
    value = config[key]
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise _refusal(key, value, f"it must be a whole number from {least}")
    return value


def _mapping(config: Mapping[str, Any], key: str) -> dict[str, Any]:
    if not isinstance(config[key], Mapping):
        raise _refusal(key, config[key], "it must be a dict of keyword arguments")
    return dict(config[key])


def _names(config: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = config[key]
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise _refusal(key, value, "it must be a list of names")
    return tuple(value)


def _refusal(key: str, value: Any, rule: str) -> ContractError:
    return ContractError(f"configuration {key!r} is {value!r}; {rule}")
