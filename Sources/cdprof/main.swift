import Foundation

// Commands run on a thread of their own with a large stack, so that the main queue stays free for
// contexts on the main queue, as in an app.
Console.occupyClosedDescriptors()
Signals.listen()
let worker = Thread {
  exit(Program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
}
worker.stackSize = 8 << 20
worker.start()
dispatchMain()
