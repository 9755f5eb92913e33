#include "tent-abi-check/clients.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"
#include "tent-abi-check/child.h"

namespace tent::tool {
namespace {

namespace fs = std::filesystem;

// What the environment has for temporary files.
fs::path temporaryFolder() {
  const char* const given = std::getenv("TMPDIR");
  return given == nullptr || *given == '\0' ? "/tmp" : given;
}

// A folder in which a library lies by its soname, and by nothing else, and one beside it for the loader's record of
// what it has loaded; gone with this.
class LibraryFolder {
 public:
  explicit LibraryFolder(const ElfFile& library) {
    std::error_code error;
    std::string root = (temporaryFolder() / "tent-abi-check-XXXXXX").string();
    if (mkdtemp(root.data()) == nullptr) return;
    root_ = root;
    path_ = root_ + "/library";
    fs::create_directory(path_, error);
    fs::create_directory(root_ + "/record", error);
    const fs::path file = fs::absolute(library.path, error);
    const std::string name = library.soname.empty() ? file.filename().string() : library.soname;
    fs::create_symlink(file, fs::path(path_) / fs::path(name).filename(), error);
    if (error) remove();
  }
  LibraryFolder(const LibraryFolder&) = delete;
  LibraryFolder& operator=(const LibraryFolder&) = delete;
  ~LibraryFolder() { remove(); }
  const std::string& path() const { return path_; }  // "" it could not be made
  // The loader writes a file for each process, named after this.
  std::string record() const { return root_ + "/record/of"; }

  // The libraries that were loaded, by whatever way: linked, needed by another library, or opened by name.
  std::vector<std::string> loaded() const {
    constexpr std::string_view kMark = "calling init: ";
    std::vector<std::string> out;
    std::error_code error;
    for (const fs::directory_entry& one : fs::directory_iterator(root_ + "/record", error)) {
      std::ifstream lines(one.path());
      for (std::string line; std::getline(lines, line);) {
        if (const size_t at = line.find(kMark); at != std::string::npos) out.push_back(line.substr(at + kMark.size()));
      }
    }
    return out;
  }

 private:
  void remove() {
    std::error_code error;
    if (!root_.empty()) fs::remove_all(root_, error);
    path_.clear();
  }

  std::string root_;
  std::string path_;
};

bool isOurs(std::string_view library) {
  return library.starts_with("libtent");
}

// What the loader takes for the client's libtent: nothing is wrong (""), or what is.
std::string wrongLibrary(const ElfFile& client, const ChildCall& call, const std::string& folder) {
  const auto needed = std::find_if(client.needed.begin(), client.needed.end(), isOurs);
  if (needed == client.needed.end()) return "";  // it loads the library itself, by name
  ChildCall listing = call;
  listing.environment.emplace_back("LD_TRACE_LOADED_OBJECTS", "1");
  std::istringstream lines(runChild(listing).output);
  for (std::string line; std::getline(lines, line);) {
    if (trimAscii(line).substr(0, needed->size()) != *needed) continue;
    if (line.find(folder) != std::string::npos) return "";
    if (line.find("not found") != std::string::npos) return fmt::format("it needs {}", *needed);
    return fmt::format("it takes another library: {}; link it without -rpath", trimAscii(line));
  }
  return "";
}

// Whether a client that has ended well has used the library, and no other of that name; "" it has. By the loader's own
// record: what the client's file needs tells neither what it opens by name nor what another library brings.
std::string notUsed(const std::vector<std::string>& loaded, const ElfFile& library) {
  bool used = false;
  for (const std::string& path : loaded) {
    std::error_code error;
    if (fs::equivalent(path, library.path, error)) {
      used = true;
    } else if (fs::path(path).filename().string().starts_with("libtent.so")) {
      return fmt::format("takes another library: {}; link it, and what it needs, without -rpath", path);
    }
  }
  return used ? "" : fmt::format("does not load {}", library.soname.empty() ? "the library" : library.soname);
}

// How the loader says that a library lacks what a program was linked with.
bool isRefusedByLoader(const ChildEnd& end) {
  return end.how == ChildEnd::How::kExited && end.number != 0 &&
         (end.errors.find("symbol lookup error") != std::string::npos ||
          (end.errors.find("version `") != std::string::npos && end.errors.find("not found") != std::string::npos));
}

MatrixCell runClient(const ClientProgram& client, const ClientLibrary& with, uint64_t timeout_ns, bool& interrupted) {
  const LibraryFolder folder(with.library);
  if (folder.path().empty())
    return {Outcome::kFail, "no temporary folder can be made in " + temporaryFolder().string()};
  ChildCall call{{loadablePath(client.program)}, {{"LD_LIBRARY_PATH", folder.path()}}, timeout_ns, ""};
  if (const std::string runtimes = sanitizerRuntimes(with.library); !runtimes.empty()) {
    call.environment.emplace_back("LD_PRELOAD", runtimes);
  }
  if (const std::string wrong = wrongLibrary(client.program, call, folder.path()); !wrong.empty()) {
    return {Outcome::kFail,
            fmt::format("does not run with {}: {}", with.library.soname.empty() ? "it" : with.library.soname, wrong)};
  }
  call.environment.insert(call.environment.end(), {{"LD_DEBUG", "libs"}, {"LD_DEBUG_OUTPUT", folder.record()}});
  const ChildEnd end = runChild(call);
  interrupted = end.how == ChildEnd::How::kInterrupted;
  if (end.exitedWith(0)) {
    if (std::string wrong = notUsed(folder.loaded(), with.library); !wrong.empty()) {
      return {Outcome::kFail, std::move(wrong)};
    }
    const std::string said = lastLine(end.output);
    return {Outcome::kPass, said.empty() ? "runs" : said};
  }
  // The last line of the loader is the whole of it, less the paths.
  std::string why = lastLine(end.errors);
  if (const size_t at = why.rfind(": "); isRefusedByLoader(end) && at != std::string::npos) why = why.substr(at + 2);
  if (isRefusedByLoader(end)) {
    why = why.substr(0, why.find(" (required by"));
    const bool as_it_must = !client.is_old && with.is_old;
    return {as_it_must ? Outcome::kWarn : Outcome::kFail, "is not started: " + why};
  }
  return {Outcome::kFail, withReason(describe(end, timeout_ns), why)};
}

std::string titleOf(const ClientProgram& client) {
  return fmt::format("{} client {}", client.is_old ? "old" : "new", fs::path(client.program.path).filename().string());
}

std::string titleOf(const ClientLibrary& with) {
  return with.is_old ? "old library" : "new library";
}

}  // namespace

std::string temporaryFault() {
  std::error_code error;
  const fs::path folder = temporaryFolder();
  if (fs::is_directory(folder, error) && access(folder.c_str(), W_OK | X_OK) == 0) return "";
  return fmt::format("clients need a temporary folder, and {} is none that can be written: set TMPDIR",
                     escapeForTerminal(folder.string()));
}

void runClients(const std::vector<ClientProgram>& clients, const std::vector<ClientLibrary>& libraries,
                uint64_t timeout_ns, Report& report) {
  if (clients.empty()) return;
  for (const ClientLibrary& library : libraries) report.matrix.libraries.push_back(titleOf(library));
  for (const ClientProgram& client : clients) {
    std::vector<MatrixCell> row;
    for (const ClientLibrary& library : libraries) {
      MatrixCell cell = runClient(client, library, timeout_ns, report.interrupted);
      if (report.interrupted) return;
      report.checks.push_back({fmt::format("clients.{} with {}", titleOf(client), titleOf(library)), cell.outcome,
                               cell.text, 0, std::nullopt, true});
      row.push_back(std::move(cell));
    }
    report.matrix.clients.push_back(titleOf(client));
    report.matrix.cells.push_back(std::move(row));
  }
}

}  // namespace tent::tool
