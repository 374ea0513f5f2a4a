import { type Core, settingOf } from '@penstock/core'
import { type ServedRoute, unguarded } from '@penstock/http'

/**
 * Returns the route of the file that names the contact for security reports. The file is the setting
 * `security_txt_content`, and does not exist without one.
 *
 * @see RFC 9116, section 3
 */
export function securityTxtRoute(core: Core): ServedRoute[] {
  return unguarded([
    {
      method: 'GET',
      path: '/.well-known/security.txt',
      access: undefined,
      async handle() {
        const content = await settingOf(core, 'security_txt_content')
        if (!content) return { status: 404, json: { error: '404 Not Found' } }
        return { status: 200, content, contentType: 'text/plain; charset=utf-8' }
      },
    },
  ])
}
