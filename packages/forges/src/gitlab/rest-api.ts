import type { RestApi } from '../forge/rest-api.ts'

export const restApi: RestApi = {
  path: '/api/v4',
  credentials: (token) => ({ 'private-token': token }),
  readPage: ({ 'x-total': total, 'x-next-page': next, link }) => ({
    total: total !== undefined && /^\d{1,15}$/.test(total) ? Number(total) : undefined,
    hasNext: next === undefined ? link === undefined || /\brel="?next"?/.test(link) : next.trim() !== '',
  }),
}
