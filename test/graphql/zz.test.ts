import { test } from 'vitest'
import { populate } from './populate.ts'
import { ServedWorld } from './served-world.ts'

test('p', async () => {
  const served = await ServedWorld.start()
  const t = Date.now()
  const p = await populate(served, { seed: 1, size: 4 })
  console.log(Date.now() - t, JSON.stringify(p).slice(0, 500))
  console.log(JSON.stringify((await served.rest('/projects/1/pipelines', p.people.administrator)).body).slice(0, 500))
  await served.close()
})
