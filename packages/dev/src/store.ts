import type { Adapter, AdapterPayload } from 'oidc-provider';

/**
 * The IAM's memory: oidc-provider's adapter interface over one map per platform. (The library's own in-memory
 * adapter is shared by every provider of a process, and prints a warning.)
 */
export function createStore(): (model: string) => Adapter {
  const entries = new Map<string, { payload: AdapterPayload; expiresAtMs: number }>();
  /** Far more than a page of sign-ins; past it the oldest goes. */
  const maxEntries = 20_000;

  return (model) => {
    const key = (id: string) => `${model}:${id}`;
    const find = (id: string): AdapterPayload | undefined => {
      const entry = entries.get(key(id));
      if (entry !== undefined && entry.expiresAtMs > Date.now()) return entry.payload;
      entries.delete(key(id));
      return undefined;
    };
    const findBy = (test: (payload: AdapterPayload) => boolean): AdapterPayload | undefined => {
      for (const [name, { payload }] of entries)
        if (name.startsWith(`${model}:`) && test(payload)) return find(name.slice(model.length + 1));
      return undefined;
    };
    return {
      async upsert(id, payload, expiresInSeconds) {
        entries.set(key(id), { payload, expiresAtMs: Date.now() + (expiresInSeconds || 3600) * 1000 });
        const [oldest] = entries.keys();
        if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
      },
      find: async (id) => find(id),
      findByUid: async (uid) => findBy((payload) => payload.uid === uid),
      findByUserCode: async (userCode) => findBy((payload) => payload.userCode === userCode),
      async consume(id) {
        const payload = find(id);
        if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
      },
      async destroy(id) {
        entries.delete(key(id));
      },
      async revokeByGrantId(grantId) {
        for (const [name, { payload }] of entries) if (payload.grantId === grantId) entries.delete(name);
      },
    };
  };
}
