import Mustache
import OpenCoreData
package import Profiling

/// The result of a run as one self-contained page.
///
/// The page needs no network and no scripts, and its policy allows none but its own (`PagePolicy`); a few lines of script let the reader switch between
/// the variants' tracks. Its first screen answers, in this order: did it hold, what is the lesson,
/// which way costs what, what happened, what is to be done.
package enum HTMLReport {
  /// The page as HTML text, under a megabyte however many events were recorded.
  ///
  /// - Throws: an error of the template's parser, which a test keeps from happening.
  package static func page(_ result: RunResult) throws -> String {
    MustacheContentTypes.register(HTMLEscaping(), named: HTMLEscaping.name)
    let text = String(decoding: PackageResources.report_html, as: UTF8.self)
    let template = try MustacheTemplate(string: text)
    return PagePolicy.applied(to: PrintableText.escaped(template.render(ReportPage(result))))
  }
}
