/// What the page of a lesson needs to change and run its scenario on the server that sent it.
struct LiveLesson {
  /// The sources that the page's policy allows in addition: only the page's own server.
  static let sources = ["connect-src 'self'", "frame-src 'self'"]

  /// The name of the lesson, by which the server knows it.
  let name: String
  /// The relative URL of the folder that contains all pages of the course.
  let root: String
  /// The relative URL of the lesson's page without questions and without this part.
  let plain: String
  /// The relative URL of the scenario's text.
  let text: String
}
