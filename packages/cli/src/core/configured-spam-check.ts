import { UsageError } from '../process/environment.ts'
import type { Settings } from '../settings/setting-table.ts'
import { captchaCheck } from './captcha-check.ts'
import { type ClosableSpamCheck, spamServiceCheck } from './spam-service.ts'

/**
 * Returns the spam check of the settings; `undefined` if neither a service nor a CAPTCHA is configured. With both, only texts
 * that the service recognizes as spam need a solved CAPTCHA.
 *
 * @throws UsageError if only one setting of a pair is there
 */
export function configuredSpamCheck(settings: Settings, site: string): ClosableSpamCheck | undefined {
  const pairs = {
    captcha: ['core.captchaSiteKey', 'core.captchaSecret'],
    service: ['core.spamServiceUrl', 'core.spamServiceKey'],
  } as const
  for (const [one, other] of Object.values(pairs)) {
    if ((settings[one] === undefined) === (settings[other] === undefined)) continue
    throw new UsageError(`${one} and ${other} are needed together`)
  }
  const [siteKey, secret] = pairs.captcha.map((name) => settings[name])
  const [url, key] = pairs.service.map((name) => settings[name])
  const captcha =
    siteKey === undefined || secret === undefined
      ? undefined
      : captchaCheck({ siteKey, secret, url: settings['core.captchaUrl'] })
  return url === undefined || key === undefined ? captcha : spamServiceCheck({ url, key, site }, captcha)
}
