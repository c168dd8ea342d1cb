"""The report page: its content, its pictures, and its template."""
