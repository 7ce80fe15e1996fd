"""The page of `likely serve`, as static files; and the same components in a notebook (`likely.page.widget`, extra `widget`).

`index.html` loads `main.js`, and that the other modules: they are plain, without a build step, and `likely serve` sends them as
they are. `vendor/` has the libraries that they are written with, and their licences.
"""
