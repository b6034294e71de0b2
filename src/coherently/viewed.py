"""A base for values that a notebook shows."""


class Viewed:
    """A base for values that a notebook shows as a small table, in its own colours and without script."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from coherently.table_views import html_view  # which needs NumPy, and errors are read without it

        return html_view(self)
