import { afterAll, beforeAll } from 'vitest'
import { freePort } from '../collector/free-port.ts'
import { describeWithPrograms, type NeededProgram } from '../collector/program-suite.ts'
import { neededForContainers, requireFresh, UnpackedImage } from './container.ts'
import { packFiles } from './installed.ts'
import type { Toured } from './tour.ts'

/** The secrets that the tests give to the first start of a service. */
export const firstSecrets = { apiKey: 'the-key-of-this-very-test', rootToken: 'root-token-of-this-very-test' }

/** Describes a suite that needs the image of this build, and perhaps more programs; see `describeWithPrograms`. */
export function describeWithImage(
  name: string,
  more: readonly NeededProgram[],
  suite: (image: () => UnpackedImage) => void,
): void {
  describeWithPrograms(name, [...neededForContainers, ...more], () => {
    let image: UnpackedImage | undefined
    beforeAll(() => {
      using packed = packFiles()
      requireFresh(packed.tarball('penstock'))
      image = new UnpackedImage()
    })
    afterAll(() => image?.[Symbol.dispose]())
    suite(() => image!)
  })
}

/** Returns settings with free ports of loopback, and the service that has these settings and `firstSecrets`. */
export async function onFreePorts(): Promise<{ listen: Readonly<Record<string, string>>; service: Toured }> {
  const [core, management, otlpHttp, otlpGrpc] = await Promise.all([freePort(), freePort(), freePort(), freePort()])
  return {
    listen: {
      PENSTOCK_CORE_LISTEN: `127.0.0.1:${core}`,
      PENSTOCK_OBS_LISTEN: `127.0.0.1:${management}`,
      PENSTOCK_OTLP_HTTP_LISTEN: `127.0.0.1:${otlpHttp}`,
      PENSTOCK_OTLP_GRPC_LISTEN: `127.0.0.1:${otlpGrpc}`,
    },
    service: {
      managementUrl: `http://127.0.0.1:${management}`,
      otlpUrl: `http://127.0.0.1:${otlpHttp}`,
      coreUrl: `http://127.0.0.1:${core}`,
      ...firstSecrets,
    },
  }
}
