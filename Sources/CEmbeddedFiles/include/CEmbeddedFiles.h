#ifndef CEMBEDDEDFILES_H
#define CEMBEDDEDFILES_H

/*
 * Text files that are compiled into the program, each as a null-terminated string in UTF-8.
 *
 * Swift has no equivalent of C's #embed, and the compiler needs seconds for array literals of the
 * same size.
 */

/* Pages and their parts: RunReports. */
const char *embedded_report_html(void);
const char *embedded_index_html(void);
const char *embedded_head_html(void);
const char *embedded_style_css(void);
const char *embedded_outcome_html(void);
const char *embedded_predict_html(void);
const char *embedded_predict_js(void);
const char *embedded_live_html(void);
const char *embedded_live_css(void);
const char *embedded_live_js(void);
const char *embedded_watch_js(void);
const char *embedded_course_html(void);
const char *embedded_log_html(void);
const char *embedded_history_html(void);

/* The page of a migration: StoreTools. */
const char *embedded_migration_html(void);

/* Sources that exported programs contain: ScenarioLanguage. */
const char *embedded_MigrationCheck_swift(void);
const char *embedded_MigrationFixture_swift(void);
const char *embedded_MigrationReport_swift(void);
const char *embedded_MigrationSuccessors_swift(void);

#endif
