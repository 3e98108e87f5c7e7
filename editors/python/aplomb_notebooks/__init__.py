"""APL (Aplomb) for tools around notebooks: `parameters` for papermill, `scripts` for jupytext."""
