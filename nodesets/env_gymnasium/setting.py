"""Read what a configuration asks for: which environment, which episodes, what counts as success.

Knows nothing of how an episode is run.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any, Mapping

import gymnasium
from gymnasium.envs.registration import EnvSpec, load_env_creator

from nodeset import Settings, UnavailableError
from nodeset.metrics import SUCCESS_RULES

INFO_PREFIX = "info:"
SEEDINGS = ("index", "episode")
MAX_EPISODES = 100_000
MAX_SEED = 2**62
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
    step's info. `wrappers` are `module:Class`, applied in their order. `imports` are modules, each
    with the setting that named it.
    """

    id: str
    kwargs: Mapping[str, Any]
    wrappers: tuple[str, ...]
    imports: tuple[tuple[str, str], ...]
    episodes: int
    split: str
    seeding: str
    seed_base: int
    success: str
    max_episode_steps: int | None
    settings: Settings = field(repr=False, compare=False)

    def make(self) -> gymnasium.Env[Any, Any]:
        """Make the environment, with frames on demand where it has them; never with autoreset.

        Raises SettingError for what names no environment, UnavailableError where a package lacks.
        """
        for module, key in self.imports:
            self._import(module, key)
        environment = self._make()
        for wrapper in self.wrappers:
            environment = self._wrapper_class(wrapper)(environment)
        return environment

    def _make(self) -> gymnasium.Env[Any, Any]:
        try:
            spec = gymnasium.spec(self.id)
            render_mode = _render_mode(spec)
        except gymnasium.error.Error as error:
            self.settings.refuse("id", "the id of an environment that is registered", error)
        except ModuleNotFoundError as error:
            raise self._lacking(error) from error
        given = {**render_mode, **self.kwargs}
        limit = self.max_episode_steps
        try:
            made: gymnasium.Env[Any, Any] = gymnasium.make(
                spec, max_episode_steps=limit, disable_env_checker=True, **given
            )
        except (gymnasium.error.DependencyNotInstalled, ModuleNotFoundError) as error:
            raise self._lacking(error) from error
        except Exception as error:
            if not self.kwargs:
                raise
            self.settings.refuse("kwargs", f"what {self.id} can be made with", error)
        return made

    def _import(self, module: str, key: str) -> Any:
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if key == "id" or error.name is None or not module.startswith(error.name):
                raise self._lacking(error) from error
            self.settings.refuse(key, "a list of modules that can be imported here", error)
        except (ValueError, TypeError) as error:  # no name of a module
            self.settings.refuse(key, "what names a module", error)

    def _wrapper_class(self, path: str) -> Any:
        module, _, name = path.partition(":")
        found = getattr(self._import(module, "wrappers"), name, None) if name else None
        if not isinstance(found, type) or not issubclass(found, gymnasium.Wrapper):
            self.settings.refuse("wrappers", "a list of gymnasium.Wrappers as module:Class")
        return found

    def _lacking(self, error: Exception) -> UnavailableError:
        return UnavailableError(
            f"{self.id} needs a package that this interpreter lacks ({error}); install it there, "
            f"or name another environment with the setting 'id'"
        )


def _render_mode(spec: EnvSpec) -> dict[str, str]:
    entry = spec.entry_point
    creator = load_env_creator(entry) if isinstance(entry, str) else entry
    modes = getattr(creator, "metadata", {}).get("render_modes", [])
    return {"render_mode": "rgb_array"} if "rgb_array" in modes else {}


def read_setting(config: Mapping[str, Any], owner: str = "env_gymnasium") -> Setting:
    """Check a configuration whose keys are those of `DEFAULT_CONFIG`; raises SettingError."""
    settings = Settings(config, owner)
    module, _, env_id = settings.text("id").rpartition(":")
    if not env_id.strip():
        settings.refuse("id", "an environment's id, or module:id")
    has_limit = settings.is_given("max_episode_steps")
    return Setting(
        id=env_id,
        kwargs=settings.mapping("kwargs"),
        wrappers=settings.texts("wrappers"),
        imports=_imports(settings, env_id, module),
        episodes=settings.whole("episodes", 1, MAX_EPISODES),
        split=settings.text("split"),
        seeding=settings.choice("seeding", SEEDINGS),
        seed_base=settings.whole("seed_base", 0, MAX_SEED),
        success=_success_rule(settings, config["success"], env_id),
        max_episode_steps=settings.whole("max_episode_steps", 1) if has_limit else None,
        settings=settings,
    )


def _imports(settings: Settings, env_id: str, module: str) -> tuple[tuple[str, str], ...]:
    """Return the modules that register ids; `id` may name one itself, as Gymnasium's ids do."""
    named = [(name, "imports") for name in settings.texts("imports")]
    own = [(name, "id") for name in (module, *_by_prefix(env_id, _REGISTERED_BY)) if name]
    return (*named, *own)


def _by_prefix(env_id: str, table: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(value for prefix, value in table.items() if env_id.startswith(prefix))


def _success_rule(settings: Settings, rule: Any, env_id: str) -> str:
    if rule is None:
        return (*_by_prefix(env_id, _SUCCESS_BY), "reported")[0]
    if isinstance(rule, str) and rule.startswith(INFO_PREFIX) and len(rule) > len(INFO_PREFIX):
        return rule
    return settings.choice("success", (*SUCCESS_RULES, f"{INFO_PREFIX}KEY"))
