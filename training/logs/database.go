package logs

import "bytes"

// databases are the stores that keep metrics in SQLite: a word of their tables, and the query that
// writes rows which are read.
var databases = []struct{ name, table, query string }{
	{"MLflow", "run_uuid", `sqlite3 -csv -header FILE "select run_uuid as run, key, iif(is_nan, 'nan', value) as value, step from metrics order by run, timestamp" > metrics.csv`},
	{"trackio", "run_name", `sqlite3 FILE "select json_patch(metrics, json_object('step', step)) from metrics where run_name = 'RUN' order by id" > run.jsonl`},
}

// database says of an SQLite database how its rows are had. Its first page names the tables.
func database(head []byte) string {
	for _, d := range databases {
		if bytes.Contains(head, []byte(d.table)) {
			return "a database of " + d.name + ", want its rows: " + d.query
		}
	}
	return "an SQLite database, want its rows as JSON lines or CSV"
}
