#include "CEmbeddedFiles.h"

/* Clang has had #embed since its version 19, in every version of C. */
#pragma clang diagnostic ignored "-Wc23-extensions"

const char *embedded_report_html(void) {
  static const char text[] = {
#embed "../RunReports/Reports/Resources/report.html" suffix(, 0)
  };
  return text;
}

const char *embedded_index_html(void) {
  static const char text[] = {
#embed "../RunReports/Reports/Resources/index.html" suffix(, 0)
  };
  return text;
}

const char *embedded_head_html(void) {
  static const char text[] = {
#embed "../RunReports/Reports/Resources/head.html" suffix(, 0)
  };
  return text;
}

const char *embedded_style_css(void) {
  static const char text[] = {
#embed "../RunReports/Reports/Resources/style.css" suffix(, 0)
  };
  return text;
}

const char *embedded_outcome_html(void) {
  static const char text[] = {
#embed "../RunReports/Reports/Resources/outcome.html" suffix(, 0)
  };
  return text;
}

const char *embedded_predict_html(void) {
  static const char text[] = {
#embed "../RunReports/Reports/Resources/predict.html" suffix(, 0)
  };
  return text;
}

const char *embedded_predict_js(void) {
  static const char text[] = {
#embed "../RunReports/Reports/Resources/predict.js" suffix(, 0)
  };
  return text;
}

const char *embedded_live_html(void) {
  static const char text[] = {
#embed "../RunReports/Reports/Resources/live.html" suffix(, 0)
  };
  return text;
}

const char *embedded_live_css(void) {
  static const char text[] = {
#embed "../RunReports/Reports/Resources/live.css" suffix(, 0)
  };
  return text;
}

const char *embedded_live_js(void) {
  static const char text[] = {
#embed "../RunReports/Reports/Resources/live.js" suffix(, 0)
  };
  return text;
}

const char *embedded_watch_js(void) {
  static const char text[] = {
#embed "../RunReports/Reports/Resources/watch.js" suffix(, 0)
  };
  return text;
}

const char *embedded_course_html(void) {
  static const char text[] = {
#embed "../RunReports/Course/Resources/course.html" suffix(, 0)
  };
  return text;
}

const char *embedded_log_html(void) {
  static const char text[] = {
#embed "../RunReports/Logs/Resources/log.html" suffix(, 0)
  };
  return text;
}

const char *embedded_history_html(void) {
  static const char text[] = {
#embed "../RunReports/Baselines/Resources/history.html" suffix(, 0)
  };
  return text;
}

const char *embedded_migration_html(void) {
  static const char text[] = {
#embed "../MigrationTools/Resources/migration.html" suffix(, 0)
  };
  return text;
}

const char *embedded_MigrationCheck_swift(void) {
  static const char text[] = {
#embed "../CoreDataCosts/MigrationCheck.swift" suffix(, 0)
  };
  return text;
}

const char *embedded_MigrationFixture_swift(void) {
  static const char text[] = {
#embed "../CoreDataCosts/MigrationFixture.swift" suffix(, 0)
  };
  return text;
}

const char *embedded_MigrationReport_swift(void) {
  static const char text[] = {
#embed "../CoreDataCosts/MigrationReport.swift" suffix(, 0)
  };
  return text;
}

const char *embedded_MigrationSuccessors_swift(void) {
  static const char text[] = {
#embed "../CoreDataCosts/MigrationSuccessors.swift" suffix(, 0)
  };
  return text;
}
