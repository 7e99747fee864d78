#!/bin/sh
# DuckDB 1.5.6 takes integers beyond 2^63 in a CSV file for DOUBLE, so that two seeds become one, in
# joins and groups too. The same seeds in a JSON file are HUGEINT, and two. Its sniffer refuses
# UBIGINT as a candidate; types = {seed: UBIGINT} keeps them apart.
set -eu
command -v npm >/dev/null || { echo "skipped: no npm"; exit 0; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 >errors 2>&1 || { cat errors; exit 1; }
printf 'seed\n18446744073709551614\n18446744073709551615\n' >seeds.csv
printf '[{"seed": 18446744073709551614}, {"seed": 18446744073709551615}]' >seeds.json
cat >main.cjs <<'JS'
const { DuckDBInstance } = require('@duckdb/node-api')
async function main() {
  const db = await (await DuckDBInstance.create()).connect()
  for (const from of ["'seeds.csv'", "'seeds.json'", "read_csv('seeds.csv', types = {seed: 'UBIGINT'})"]) {
    const read = await db.runAndReadAll(`SELECT any_value(typeof(seed)), count(DISTINCT seed)::INT FROM ${from}`)
    console.log(...read.getRows()[0])
  }
  const candidates = "read_csv('seeds.csv', auto_type_candidates = ['UBIGINT', 'DOUBLE'])"
  await db.run(`SELECT * FROM ${candidates}`).catch(error => console.log(error.message.split('\n')[0]))
}
main()
JS
seen=$(node main.cjs 2>errors) || { cat errors; exit 1; }
echo "$seen"
test "$seen" = 'DOUBLE 1
HUGEINT 2
UBIGINT 2
Binder Error: Auto Type Candidate of type UBIGINT is not accepted as a valid input'
