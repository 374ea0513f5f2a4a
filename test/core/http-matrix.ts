import { identityRows } from './http-matrix-identities.ts'
import { pipelineRows } from './http-matrix-pipelines.ts'
import { repositoryRows } from './http-matrix-repositories.ts'
import type { MatrixRow } from './http-matrix-row.ts'
import { tokenRows } from './http-matrix-tokens.ts'
import { workRows } from './http-matrix-work.ts'
import { matrixAreas } from './matrix-area.ts'

export const matrix: readonly MatrixRow[] = [
  ...tokenRows,
  ...identityRows,
  ...workRows,
  ...repositoryRows,
  ...pipelineRows,
  ...(await matrixAreas()).flatMap(({ rows }) => rows),
]
