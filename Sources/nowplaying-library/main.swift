import Glibc
import LibraryRuntime

exit(LibraryProgram.run(Array(CommandLine.arguments.dropFirst())))
