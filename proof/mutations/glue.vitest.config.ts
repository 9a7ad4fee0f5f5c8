import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';

const model = 'test/unit/model/lifecycle.test.ts';

/** The model takes longer than the lives, which notice most. */
class ModelLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isModel = ({ moduleId }: TestSpecification) => Number(moduleId.endsWith(model));
    return files.toSorted((a, b) => isModel(a) - isModel(b));
  }
}

/** The unit tests of what calls activities: lives, and the quick searches of the model. */
export default defineConfig({
  test: {
    include: [
      'test/unit/{order,link,report,appointment,deletion,delivery,entity,match-review,policies}/**/*.test.ts',
      model,
    ],
    sequence: { sequencer: ModelLast },
    setupFiles: ['test/rig/setup.ts'],
    testTimeout: 60_000,
  },
});
