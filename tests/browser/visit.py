"""A page that is open in a browser, with every request and every complaint that it made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FLAGS = [
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]


class Visit:
    """Without a network, but for the server of a page that has one; ``scheme``: light or dark."""

    def __init__(
        self,
        browser: Any,
        place: Path | str,
        width: int = 1280,
        scheme: str = "light",
        scripts: bool = True,
    ) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.dialogs: list[str] = []
        self.context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            java_script_enabled=scripts,
            offline=isinstance(place, Path),
            reduced_motion="reduce",
        )
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._heard)
        self.page.on("dialog", self._asked)
        self.page.goto(place.as_uri() if isinstance(place, Path) else place)
        if scripts:
            self.page.wait_for_function(
                "!document.querySelector('script:not([type])') "
                "|| document.documentElement.dataset.ready === 'yes'",
                timeout=30_000,
            )

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _asked(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def outside(self) -> list[str]:
        """What was asked for beyond the page itself."""
        return [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]

    def sticking_out(self) -> list[str]:
        """Elements that are wider than the window, where nothing scrolls them."""
        found: list[str] = self.page.evaluate(
            """() => [...document.querySelectorAll("body *")].filter((one) => {
              if (one.closest(".unseen, .skip, title")) return false;
              if (!one.getClientRects().length) return false;
              for (let up = one.parentElement; up; up = up.parentElement)
                if (getComputedStyle(up).overflowX !== "visible") return false;
              return one.getBoundingClientRect().right > innerWidth + 1;
            }).map((one) => one.outerHTML.slice(0, 120))"""
        )
        return found
