import ts from 'typescript-5';
import type { Door } from './published.js';

/** Every public name of each door, values and types, as a compiler sees them in the built declarations. */
export function namesOf(doors: readonly Door[]): ReadonlyMap<Door, readonly string[]> {
  const program = ts.createProgram({
    rootNames: doors.map((door) => door.types),
    options: {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ES2023,
      noEmit: true,
      // Only names are asked for: what the standard library and other packages declare is not looked at.
      noLib: true,
      types: [],
    },
  });
  const checker = program.getTypeChecker();
  return new Map(
    doors.map((door) => {
      const file = program.getSourceFile(door.types);
      const symbol = file && checker.getSymbolAtLocation(file);
      if (symbol === undefined) throw new Error(`${door.types} is no module`);
      return [
        door,
        checker
          .getExportsOfModule(symbol)
          .map(({ name }) => name)
          .sort(),
      ];
    }),
  );
}
