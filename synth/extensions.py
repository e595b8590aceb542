"""Extension points that are folders: file name = public name, imported on first use, no list to edit."""

import importlib
import pkgutil
from dataclasses import dataclass
from types import ModuleType

NOT_EXTENSIONS = frozenset({"base"})


@dataclass(frozen=True, slots=True)
class Broken:
    """An extension that cannot be imported here, and why."""

    name: str
    reason: str


class ExtensionPoint:
    """The modules of one or more packages, by name. A later package may not hide a name of an earlier one."""

    def __init__(self, *packages: str) -> None:
        self._packages = packages

    def names(self) -> tuple[str, ...]:
        """Every extension's name, in alphabetical order; imports the packages but none of the extensions."""
        return tuple(sorted(self._modules()))

    def load(self, name: str) -> ModuleType:
        """Import the extension called `name`.

        Raises LookupError for an unknown name; whatever the module's own import raises passes through.
        """
        modules = self._modules()
        if name not in modules:
            raise LookupError(f"no extension {name!r}; there are: {', '.join(sorted(modules))}")
        return importlib.import_module(modules[name])

    def load_or_broken(self, name: str) -> ModuleType | Broken:
        """Like `load`, but an extension whose import fails is told with its reason."""
        try:
            return self.load(name)
        except LookupError:
            raise
        except Exception as error:  # noqa: BLE001 - a broken extension must not take the others down
            return Broken(name, f"{type(error).__name__}: {error}")

    def _modules(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for package in self._packages:
            path = importlib.import_module(package).__path__
            for module in pkgutil.iter_modules(path):
                if module.name not in NOT_EXTENSIONS and not module.name.startswith("_"):
                    found.setdefault(module.name, f"{package}.{module.name}")
        return found
