/** LABOPS_ENCRYPTION_KEYS of the histories whose worker requires encryption: invented, and public. */
export const inventedKeys = `invented:${Buffer.from('an-invented-key-with-32-bytes-02').toString('base64')}`;
