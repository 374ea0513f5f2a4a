/** Sends 10,000 valid and invalid documents that are generated from the GraphQL schema. The argument is another seed. */
import { fuzz } from '../graphql/fuzz-run.ts'

const seed = Number(process.argv[2] ?? 1)
try {
  const figures = await fuzz(10_000, seed)
  const { documents, executed, withoutErrors, rejected, slowestMs, corrupted, fields, fieldsOfSchema } = figures
  console.log(`documents           ${documents}, seed ${seed}`)
  console.log(`executed            ${executed}, of which ${withoutErrors} without an error`)
  console.log(`rejected             ${rejected}`)
  console.log(`fields executed     ${fields.size} of ${fieldsOfSchema}`)
  console.log(`slowest answer      ${slowestMs.toFixed(0)} ms`)
  for (const [what, times] of Object.entries(corrupted).sort()) console.log(`  ${what.padEnd(28)}${times}`)
  console.log('none failed, none above the limit executed')
} catch (error) {
  console.log((error as Error).message)
  process.exitCode = 1
}
