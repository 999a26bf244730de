LibraryBenchmark.run(CommandLine.arguments)
