"""The report page: what it shows of each run, its pictures, and its template."""
