import { sourceSlugOf } from '../../protocol/link/provider-source.js';

/** Providers of health data that nobody makes. The specification has twelve that take a password and names none. */
export const PASSWORD_PROVIDERS = [
  'invented_watch',
  'invented_band',
  'invented_ring',
  'invented_scale',
  'invented_meter',
  'invented_patch',
  'invented_pump',
  'invented_strap',
  'invented_clip',
  'invented_lamp',
  'invented_pillow',
  'invented_app',
] as const;

/** Providers that ask for an e-mail address alone. */
export const EMAIL_PROVIDERS = ['invented_reader', 'invented_logger'] as const;

export interface Source {
  readonly name: string;
  readonly slug: string;
  readonly logo: string;
}

/** The source as the service shows it for a provider. */
export function sourceOf(provider: string): Source {
  const slug = sourceSlugOf(provider);
  const words = slug.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return { name: words.join(' '), slug, logo: `https://logos.example.com/${encodeURIComponent(slug)}.png` };
}
