import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { namesOf } from './names.js';
import { published } from './published.js';
import { readReadme } from './readme.js';

const names = namesOf(published.flatMap(({ doors }) => doors));

for (const { name, folder, doors } of published) {
  const readme = readReadme(folder);

  t.test(`${name}: its README names every public name of every door, and no other`, async (t) => {
    t.strictSame(
      readme.tables.map(({ door }) => door),
      doors.map(({ specifier }) => specifier),
      'one table for each door, in the order of exports',
    );
    for (const door of doors) {
      const table = readme.tables.find((one) => one.door === door.specifier);
      const first = readme.tables[0];
      // A door that has another's names says so, and its table has only what differs.
      const inherited = table?.prose.includes(`Every name of \`${name}\``) ? (first?.names ?? []) : [];
      const told = [...new Set([...(table?.names ?? []), ...inherited])].sort();
      t.strictSame(told, names.get(door), door.specifier);
      t.equal(new Set(table?.names).size, table?.names.length, `${door.specifier}: no name twice`);
    }
  });

  t.test(`${name}: its README says how to install it, shows it, and tells of errors`, async (t) => {
    t.equal(readme.title, name);
    t.match(readme.text, new RegExp(`npm install (--save-dev )?${name}\\b`));
    t.match(readme.text, /^### Errors$/m);
    t.equal(readme.examples.length, 1, 'one example');
    const lines = readme.examples[0]?.trim().split('\n').length ?? 0;
    t.ok(lines >= 10 && lines <= 25, `of ${lines} lines`);
    for (const target of readme.links) {
      t.ok(existsSync(join(folder, target.replace(/#.*/, ''))), `${target} exists`);
    }
  });
}

t.test('the versioning policy is where each README says', async (t) => {
  for (const { folder } of published) {
    t.match(readFileSync(join(folder, 'README.md'), 'utf8'), /\(\.\.\/\.\.\/docs\/versioning\.md\)/);
  }
});
