import type { Story } from '../stage.js';

export const oldReport: Story = {
  label: 'report',
  colour: 'cyan',
  promise:
    'A customer has a report from another lab as a PDF. It is read, a person reviews it, and its values come back.',
  async play(stage) {
    const lines = ['Lab report of Testperson Invented', 'Invented Laboratory, Springfield', 'labops-sandbox: review'];
    const report = await stage.submitReport(lines, { needsHumanReview: true });
    const { outcome, isReviewed, counts } = await report.end(stage.signal);
    stage.check('the report was read and reviewed', outcome === 'completed' && isReviewed === true);
    await report.notifications.first('completed');
    stage.acts(
      'the product reads the biomarkers from the lab service; neither they nor the file were ever in Temporal',
    );
    const biomarkers = await report.handle.biomarkers();
    stage.check('every biomarker can be read', biomarkers.length > 0 && biomarkers.length === counts?.results);
    const [first] = biomarkers;
    const [loinc] = first?.loinc_matches ?? [];
    stage.check('they are matched to LOINC', loinc?.loinc_code !== undefined);
    return `completed and reviewed: ${biomarkers.length} biomarkers, ${first?.test_name} is LOINC ${loinc?.loinc_code}`;
  },
};
