import { PRODUCT_VERSION } from '@penstock/converter'
import type { Command } from 'commander'
import { settingsOf } from '../core/core-operator.ts'
import { diagnose, type Finding } from '../core/diagnosis.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { exitCodes } from '../process/environment.ts'
import {
  type Installation,
  type InstallationKind,
  nodeSupport,
  oldestNode,
  testedNodes,
} from '../process/installation.ts'
import { write } from '../process/output.ts'
import { diagnoseFastPath, diagnoseGateway } from '../serve/gateway-diagnosis.ts'
import { addStoreFlags } from '../serve/operator.ts'

const marks = { ok: 'ok   ', note: 'note ', wrong: 'WRONG' } as const satisfies Record<Finding['grade'], string>

export const doctorCommand: CommandDefinition = {
  name: 'doctor',
  define: (command: Command) => {
    addStoreFlags(
      command
        .summary('finds configuration errors and shows how to fix them')
        .description(
          'Checks the version of Node, settings, data directory, keys, databases and ports without changing them.',
        ),
    ).addHelpText('after', '\nExit codes: 0 no errors, 1 errors were found, 2 a setting cannot be read.\n')
  },
  run: async (_inputs, flags, environment) => {
    const settings = settingsOf(flags, environment.env)
    const findings = [
      ...installationFindings(environment.installation),
      await diagnoseFastPath(settings),
      ...(await diagnose(settings)),
      ...(await diagnoseGateway(settings, environment.clock.nowMs())),
    ]
    for (const { grade, message, remedy } of findings) {
      await write(environment.stdout, `${marks[grade]} ${message}${remedy === undefined ? '' : `: ${remedy}`}\n`)
    }
    return findings.some(({ grade }) => grade === 'wrong') ? exitCodes.incomplete : exitCodes.ok
  },
}

const origins = {
  checkout: 'run from a checkout',
  package: 'installed as a package',
  image: 'in an image',
} as const satisfies Record<InstallationKind, string>

function installationFindings({ kind, nodeVersion }: Installation): Finding[] {
  const tested = testedNodes.map(({ major }) => major).join(' or ')
  const remedy = `use Node ${tested}`
  const node = {
    tested: { grade: 'ok', message: `Node ${nodeVersion}: CI runs tests with this version` },
    untested: { grade: 'note', message: `Node ${nodeVersion}: no test runs with this version`, remedy },
    'too old': { grade: 'wrong', message: `Node ${nodeVersion} is older than ${oldestNode}`, remedy },
  } as const
  return [{ grade: 'ok', message: `penstock ${PRODUCT_VERSION}, ${origins[kind]}` }, node[nodeSupport(nodeVersion)]]
}
