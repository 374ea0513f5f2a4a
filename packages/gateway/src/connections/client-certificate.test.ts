import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { certificateNames } from './client-certificate.ts'

/** Self-signed, for tests only, valid until 2126. Two of its names contain a comma. */
const agent = `-----BEGIN CERTIFICATE-----
MIIBzDCCAXKgAwIBAgIUbU5by5zNiaQufECoR2STwoJGjs4wCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFYWdlbnQwIBcNMjYxMTIxMTMwMzExWhgPMjEyNjEwMjgxMzAz
MTFaMBAxDjAMBgNVBAMMBWFnZW50MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
2eMBnfWo8CzEH3rIBo81OX3rDTyOEAr8FQye8D1Tzyzp0InhhNgUTQ8G8v1p72i2
kViNCHa9bO5gtY4wsVtOz6OBpzCBpDCBggYDVR0RBHsweYIRQWdlbnQuRXhhbXBs
ZS5jb22GGnNwaWZmZTovL2V4YW1wbGUuY29tL2FnZW50gQ9vcHNAZXhhbXBsZS5j
b22HBH8AAAGGF2h0dHBzOi8vZXhhbXBsZS5jb20vYSxighhhLmV4YW1wbGUsIERO
UzpiLmV4YW1wbGUwHQYDVR0OBBYEFAmxxRLqMgakvgqmUX4ZqLLI7ww7MAoGCCqG
SM49BAMCA0gAMEUCIDmluSmJLyfCG/aa52Urcay0JykbN1TMP7qu13RbD/52AiEA
4bjHZVapfYut6Jfu5kXLbYS7FuKm5nj3BrIW5xjgfhc=
-----END CERTIFICATE-----
`

test('X-13: returns the names of a certificate with their kinds, and does not split names with a comma', () => {
  expect(certificateNames(new X509Certificate(agent).subjectAltName)).toEqual([
    'DNS:agent.example.com',
    'URI:spiffe://example.com/agent',
    'email:ops@example.com',
    'IP Address:127.0.0.1',
    'URI:https://example.com/a,b',
    'DNS:a.example, dns:b.example',
  ])
})

test('X-13: returns no names for a certificate without any', () => {
  expect(certificateNames(undefined)).toEqual([])
  expect(certificateNames('')).toEqual([])
})
