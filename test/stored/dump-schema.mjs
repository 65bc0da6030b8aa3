// @ts-nocheck
/**
 * The tables of a PostgreSQL schema as SQL text, read from the catalogue: names are not qualified, so that they go
 * wherever `search_path` points. `pg_dump` does not come with the embedded server.
 */
export async function dumpSchema(sql, schema) {
  await sql.unsafe(`SET search_path TO "${schema}"`)
  const tables = await sql`
    SELECT c.oid, c.relname AS name FROM pg_class c
    WHERE c.relnamespace = ${schema}::regnamespace AND c.relkind = 'r' ORDER BY c.oid`
  const lines = []
  for (const { oid, name } of tables) {
    const columns = await columnsOf(sql, oid)
    lines.push(
      `CREATE TABLE ${name} (\n${columns.map((column) => `  ${column.text}`).join(',\n')}\n);`,
    )
    lines.push(...(await rowsOf(sql, name, columns)))
  }
  // What refers to other tables comes when all of them are there.
  const all = tables.map(({ oid }) => oid)
  const constraints = await sql`
    SELECT conrelid::regclass::text AS name, conname, pg_get_constraintdef(oid) AS text
    FROM pg_constraint WHERE conrelid = ANY(${all}) AND contype <> 'n'
    ORDER BY contype DESC, conrelid, conname`
  for (const { name, conname, text } of constraints) {
    lines.push(`ALTER TABLE ${name} ADD CONSTRAINT ${conname} ${text};`)
  }
  const indexes = await sql`
    SELECT pg_get_indexdef(i.indexrelid, 0, true) AS text FROM pg_index i
    WHERE i.indrelid = ANY(${all})
      AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = i.indexrelid AND contype IN ('p', 'u'))
    ORDER BY i.indexrelid`
  for (const { text } of indexes) lines.push(`${text};`)
  return `${lines.join('\n')}\n`
}

async function columnsOf(sql, oid) {
  const columns = await sql`
    SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS required,
      a.attidentity AS identity, pg_get_expr(d.adbin, d.adrelid) AS preset,
      (SELECT collname FROM pg_collation c WHERE c.oid = a.attcollation AND collname <> 'default') AS collation
    FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = ${oid} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`
  return columns.map(({ name, type, required, identity, preset, collation }) => {
    const parts = [name, type]
    if (collation) parts.push(`COLLATE "${collation}"`)
    if (required) parts.push('NOT NULL')
    if (preset) parts.push(`DEFAULT ${preset}`)
    if (identity) parts.push(`GENERATED ${identity === 'a' ? 'ALWAYS' : 'BY DEFAULT'} AS IDENTITY`)
    return { name, type, identity, text: parts.join(' ') }
  })
}

async function rowsOf(sql, table, columns) {
  const names = columns.map(({ name }) => name).join(', ')
  const asText = columns.map(({ name }) => `${name}::text AS ${name}`).join(', ')
  const rows = await sql.unsafe(
    `SELECT ${asText} FROM ${table} ORDER BY ${table}.${columns[0].name}, ctid`,
  )
  const overriding = columns.some(({ identity }) => identity) ? ' OVERRIDING SYSTEM VALUE' : ''
  const values = rows.map(
    (row) => `(${columns.map(({ name, type }) => literal(row[name], type)).join(', ')})`,
  )
  const lines =
    values.length === 0
      ? []
      : [`INSERT INTO ${table} (${names})${overriding} VALUES`, `${values.join(',\n')};`]
  for (const { name } of columns.filter(({ identity }) => identity)) {
    const sequence = `pg_get_serial_sequence('${table}', '${name}')`
    const [{ last }] = await sql.unsafe(`SELECT nextval(${sequence})::text AS last`)
    lines.push(`SELECT setval(${sequence}, ${last}, false);`)
  }
  return lines
}

function literal(value, type) {
  if (value === null) return 'NULL'
  if (/^(bigint|integer|boolean)$/.test(type)) return value
  const text = `'${value.replaceAll("'", "''")}'`
  return type === 'text' ? text : `${text}::${type}`
}
