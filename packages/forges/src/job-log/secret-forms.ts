/** A form of secrets. */
interface SecretForm {
  readonly what: string
  readonly pattern: RegExp
}

/**
 * The forms in which logs contain secrets, in the order in which they are masked. The group `secret` is masked, or all of the match if
 * there is no such group. Every repetition has a limit where a text could match from many positions.
 */
export const secretForms: readonly SecretForm[] = [
  {
    what: 'private keys (PEM, OpenSSH, PGP), on one line or on several',
    pattern: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,40}-----|$)/g,
  },
  { what: 'age keys', pattern: /AGE-SECRET-KEY-1[0-9A-Z]{16,}/g },
  {
    what: 'headers `Authorization`, `Cookie`, and their like',
    pattern: /\b(?:proxy-)?(?:authorization|(?:set-)?cookie)\b["']?\s{0,4}[:=]\s{0,4}["']?(?<secret>[^\r\n"']+)/gi,
  },
  {
    what: 'schemes of HTTP authentication: `Bearer …`, `Basic …`',
    pattern: /\b(?:bearer|basic|negotiate|digest)\s{1,4}(?<secret>(?=[a-z+/~-]{0,64}[A-Z0-9=._])[\w+/=.~-]{8,})/gi,
  },
  {
    what: 'passwords in URLs',
    pattern: /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/@:]{0,256}:(?<secret>[^\s@"'<>]{1,1024})@/gi,
  },
  { what: 'tokens in URLs in place of a user', pattern: /\bhttps?:\/\/(?<secret>[^\s/@:"'<>]{16,1024})@/gi },
  {
    what: 'parameters of URLs that sign or authorise a request',
    pattern:
      /[?&;](?:sig|signature|x-amz-(?:signature|credential|security-token)|x-goog-signature|code|key|auth)=(?<secret>[^&\s"'<>]+)/gi,
  },
  {
    what: 'values of names such as `token`, `password`, `secret`, `api_key`, `private_key`, `credential`',
    pattern:
      /(?:secret|token|passw(?:or)?d|passwort|passphrase|\bpwd|_pwd|_pass|\bpass(?==)|api[_-]?key|access[_-]?key(?:[_-]?id)?|account[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|credentials?|_auth|["']auth(?=["'])|shared[_-]?access[_-]?signature)[\w.-]{0,32}["'\]]{0,2}\s{0,4}(?::=|=>|[:=])\s{0,4}(?:b?"(?<double>(?:[^"\\]|\\.)+)"?|b?'(?<single>[^']+)'?|(?<secret>[^\s"'&]+))/gi,
  },
  {
    what: 'elements of XML with such names',
    pattern:
      /<[\w.-]{0,40}(?:password|passwd|passphrase|token|secret|api-?key|private-?key|credential)[\w.-]{0,40}>(?<secret>[^<]+)/gi,
  },
  {
    what: "passwords in SQL: `PASSWORD '…'`, `IDENTIFIED BY '…'`",
    pattern: /\b(?:password|identified by)\s{1,4}(?:"(?<double>[^"]+)|'(?<single>[^']+))/gi,
  },
  {
    what: 'flags such as `--password …`, `--token …`',
    pattern:
      /--?[\w-]{0,40}(?:password|passwd|passphrase|token|secret|api-?key|access-?key|credentials?)\s{1,4}(?<secret>[^\s-]\S*)/gi,
  },
  {
    what: 'users with passwords: `curl -u user:…`',
    pattern: /(?:\s-u\s{0,4}|--user[\s=]{1,4})["']?[^\s:"']{0,256}:(?<secret>[^\s"']+)/g,
  },
  {
    what: 'passwords of `docker login`, `sshpass`, `mysql`',
    pattern: /\b(?:login|sshpass|mysql\w{0,16}|mongo\w{0,16})\b.{0,200}?\s-p\s{0,4}(?<secret>\S+)/g,
  },
  { what: 'lines of `.netrc`', pattern: /\blogin\s{1,4}\S{1,256}\s{1,4}password\s{1,4}(?<secret>\S+)/g },
  { what: 'JSON Web Tokens', pattern: /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g },
  {
    what: 'GitLab',
    pattern:
      /\b(?:gl(?:pat|oas|dt|rtr?|cbt|ptt|ft|imt|agent|soat|ffct|wt)-[\w.-]{10,}|GR1348941[\w-]{10,}|_gitlab_session=[0-9a-f]{16,})/g,
  },
  { what: 'GitHub', pattern: /\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|v1\.[0-9a-f]{40})\b/g },
  { what: 'Penstock', pattern: /\bps(?:in|ak)_[\w-]{16,}/g },
  { what: 'AWS', pattern: /\b(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA|ANPA|ANVA|AIPA)[A-Z0-9]{12,}\b/g },
  {
    what: 'Slack, Mattermost, Discord and Teams',
    pattern:
      /\bx(?:ox[a-z]|app)-[\w-]{10,}|(?<=hooks\.slack\.com\/(?:services|workflows|triggers)\/)\S+|(?<=discord(?:app)?\.com\/api\/webhooks\/)\S+|(?<=webhook\.office\.com\/webhookb2\/)\S+|(?<=\/hooks\/)[a-z0-9]{26}\b/g,
  },
  { what: 'Google', pattern: /\b(?:AIza[\w-]{30,}|ya29\.[\w-]{10,}|GOCSPX-[\w-]{10,})/g },
  {
    what: 'npm, PyPI, RubyGems, crates.io',
    pattern: /\b(?:npm_\w{20,}|pypi-[\w-]{16,}|rubygems_[0-9a-f]{20,}|cio\w{32})/g,
  },
  {
    what: 'Docker, Hugging Face, DigitalOcean, Shopify, Heroku',
    pattern:
      /\b(?:dckr_[a-z]{3,4}_[\w-]{16,}|hf_\w{20,}|do[opr]_v1_[0-9a-f]{32,}|shp[a-z]{2}_\w{16,}|HRKU-[\w-]{20,})/g,
  },
  { what: 'HashiCorp', pattern: /\b(?:hv[sbr]\.[\w-]{16,}|\w{14}\.atlasv1\.[\w-]{16,})/g },
  {
    what: 'Stripe, SendGrid, Twilio, Mailgun',
    pattern:
      /\b(?:[rsp]k_(?:live|test)_\w{10,}|whsec_[\w+/=]{16,}|SG\.[\w-]{16,}\.[\w-]{16,}|(?:SK|AC)[0-9a-f]{32}|key-[0-9a-f]{32})\b/g,
  },
  { what: 'OpenAI, Anthropic, and their like', pattern: /\bsk-[\w-]{16,}/g },
  { what: 'Telegram', pattern: /\b\d{8,10}:AA[\w-]{30,}/g },
]
