// The flags of the plugin that give the settings of an install.

/** All of them: the trust domain `example.org`, the class of kleym's outputs, and the file of SCM's configuration. */
export function settingsFlags(className = '', scmConfig = 'scm.yaml'): readonly string[] {
  return [
    '--trust-domain',
    'example.org',
    '--clusterspiffeid-class-name',
    className,
    '--scm-config',
    scmConfig,
  ]
}
