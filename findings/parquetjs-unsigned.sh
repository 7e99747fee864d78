#!/bin/sh
# @dsnp/parquetjs 1.8.8 reads the unsigned 64-bit integers of a Parquet file as signed ones, and a
# DECIMAL of more than 18 digits as its bytes: a seed of 2^64 − 1 is −1. hyparquet 1.33.0 reads both.
# DuckDB, which writes the file, makes such a DECIMAL of round(x, 4) by itself.
set -eu
command -v npm >/dev/null || { echo "skipped: no npm"; exit 0; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 @dsnp/parquetjs@1.8.8 hyparquet@1.33.0 >errors 2>&1 ||
	{ cat errors; exit 1; }
cat >main.mjs <<'JS'
import { DuckDBInstance } from '@duckdb/node-api'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import parquetjs from '@dsnp/parquetjs'

const db = await (await DuckDBInstance.create()).connect()
await db.run(`COPY (SELECT 18446744073709551615::UBIGINT AS seed, 0.3::DECIMAL(9, 4) AS short,
  -1.5::DECIMAL(24, 3) AS long) TO 'seeds.parquet' (FORMAT parquet, COMPRESSION snappy)`)
const show = row => console.log(String(row.seed), row.short, Buffer.isBuffer(row.long) ? 'bytes' : row.long)
show((await parquetReadObjects({ file: await asyncBufferFromFile('seeds.parquet') }))[0])
const reader = await parquetjs.ParquetReader.openFile('seeds.parquet')
show(await reader.getCursor().next())
await reader.close()
JS
seen=$(node main.mjs 2>errors) || { cat errors; exit 1; }
echo "$seen"
test "$seen" = '18446744073709551615 0.3 -1.5
-1 0.3 bytes'
