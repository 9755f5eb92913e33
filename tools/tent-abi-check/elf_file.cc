#include "tent-abi-check/elf_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/stat.h>

#include "abi/description.h"
#include "base/fd.h"
#include "base/text.h"

namespace tent::tool {
namespace {

constexpr off_t kMaxBytes = off_t{1} << 31;
constexpr size_t kMaxSymbols = 1u << 22;

#if defined(__x86_64__)
constexpr GElf_Half kOwnMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr GElf_Half kOwnMachine = EM_AARCH64;
#elif defined(__i386__)
constexpr GElf_Half kOwnMachine = EM_386;
#elif defined(__arm__)
constexpr GElf_Half kOwnMachine = EM_ARM;
#else
constexpr GElf_Half kOwnMachine = EM_NONE;  // no library is native then, and none is run
#endif
constexpr unsigned char kOwnClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

std::string nameOfMachine(GElf_Half machine) {
  switch (machine) {
    case EM_X86_64: return "x86_64";
    case EM_AARCH64: return "aarch64";
    case EM_386: return "i386";
    case EM_ARM: return "arm";
    case EM_RISCV: return "riscv";
    case EM_PPC64: return "ppc64";
    case EM_S390: return "s390";
    default: return fmt::format("machine {}", machine);
  }
}

tl::expected<std::string, std::string> readBytes(const std::string& path) {
  const auto system_error = [] { return tl::unexpected(std::generic_category().message(errno)); };
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return system_error();
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) return system_error();
  if (!S_ISREG(status.st_mode)) return tl::unexpected(std::string("is not a regular file"));
  if (status.st_size == 0) return tl::unexpected(std::string("is empty"));
  if (status.st_size > kMaxBytes) return tl::unexpected(std::string("is over 2 GiB"));
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = read(fd.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error();
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

// One reading; each step that fails leaves its sentence in error_.
class Reader {
 public:
  Reader(std::string& bytes, ElfFile& file, ElfKind kind) : bytes_(bytes), file_(file), kind_(kind) {}

  std::string read() {
    if (elf_version(EV_CURRENT) == EV_NONE) return "cannot be read: libelf is too old";
    if (bytes_.compare(0, SELFMAG, ELFMAG) != 0) return "is not an ELF file";
    elf_.reset(elf_memory(bytes_.data(), bytes_.size()));
    GElf_Ehdr header;
    if (elf_ == nullptr || elf_kind(elf_.get()) != ELF_K_ELF || gelf_getehdr(elf_.get(), &header) == nullptr) {
      return "is truncated: its ELF header is not all there";
    }
    file_.architecture = nameOfMachine(header.e_machine);
    file_.big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
    const bool own_order = file_.big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    file_.native = header.e_machine == kOwnMachine && header.e_ident[EI_CLASS] == kOwnClass && own_order;
    // Programs are of either type: most are made to be loaded anywhere.
    if (header.e_type != ET_DYN && (kind_ == ElfKind::kLibrary || header.e_type != ET_EXEC)) {
      return kind_ == ElfKind::kLibrary ? "is not a shared library" : "is not a program";
    }
    if (!segmentsAreThere()) return "is truncated: a segment lies behind its end";
    if (header.e_shoff == 0 || header.e_shoff >= bytes_.size()) {
      return "is truncated or has no section headers: its symbols cannot be read";
    }
    readSections();
    return error_;
  }

 private:
  bool fits(GElf_Off offset, GElf_Xword size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }

  bool segmentsAreThere() {
    size_t count = 0;
    if (elf_getphdrnum(elf_.get(), &count) != 0) return false;
    for (size_t i = 0; i < count; ++i) {
      GElf_Phdr segment;
      if (gelf_getphdr(elf_.get(), static_cast<int>(i), &segment) == nullptr) return false;
      if (!fits(segment.p_offset, segment.p_filesz)) return false;
    }
    return true;
  }

  void readSections() {
    size_t names = 0;
    size_t count = 0;
    if (elf_getshdrstrndx(elf_.get(), &names) != 0 || elf_getshdrnum(elf_.get(), &count) != 0 || count == 0) {
      error_ = "is truncated: its section headers are not all there";
      return;
    }
    size_t seen = 1;  // the first is reserved, and not walked
    for (Elf_Scn* section = elf_nextscn(elf_.get(), nullptr); section != nullptr;
         section = elf_nextscn(elf_.get(), section)) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr) break;
      if (header.sh_type != SHT_NOBITS && !fits(header.sh_offset, header.sh_size)) break;
      const char* name = elf_strptr(elf_.get(), names, header.sh_name);
      take(section, header, name == nullptr ? "" : name);
      ++seen;
    }
    if (error_.empty() && seen != count) error_ = "is truncated: a section lies behind its end";
    if (error_.empty()) readSymbols();
  }

  void take(Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
    if (header.sh_type == SHT_DYNAMIC) readDynamic(section, header);
    if (header.sh_type == SHT_DYNSYM) dynamic_symbols_ = section;
    if (header.sh_type == SHT_GNU_versym) versions_ = section;
    if (header.sh_type == SHT_GNU_verdef) definitions_ = section;
    if (header.sh_type == SHT_NOTE && name == ".note.gnu.build-id") readBuildId(section);
    if (header.sh_type == SHT_NOBITS) return;
    if (name == ".debug_info") file_.has_debug_information = true;
    if (name == TENT_ABI_DESCRIPTION_SECTION) {
      file_.description = bytes_.substr(header.sh_offset, header.sh_size);
    }
  }

  void readDynamic(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* data = elf_getdata(section, nullptr);
    for (int i = 0; data != nullptr; ++i) {
      GElf_Dyn entry;
      if (gelf_getdyn(data, i, &entry) == nullptr || entry.d_tag == DT_NULL) return;
      if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0 && kind_ == ElfKind::kLibrary) {
        error_ = "is a program, not a shared library";
        return;
      }
      if (entry.d_tag != DT_SONAME && entry.d_tag != DT_NEEDED) continue;
      const char* text = elf_strptr(elf_.get(), header.sh_link, entry.d_un.d_val);
      if (text == nullptr) {
        error_ = "is malformed: a name of its dynamic section is not there";
        return;
      }
      if (entry.d_tag == DT_SONAME) file_.soname = text;
      if (entry.d_tag == DT_NEEDED) file_.needed.emplace_back(text);
    }
  }

  void readBuildId(Elf_Scn* section) {
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Nhdr note;
    size_t name = 0;
    size_t content = 0;
    if (data == nullptr || gelf_getnote(data, 0, &note, &name, &content) == 0) return;
    if (note.n_type != NT_GNU_BUILD_ID) return;
    file_.build_id = toHex({static_cast<const char*>(data->d_buf) + content, note.n_descsz});
  }

  // The name of the version with that index; nothing where the library defines none such.
  std::optional<std::string> versionOf(GElf_Half index) {
    GElf_Shdr header;
    Elf_Data* data = definitions_ == nullptr ? nullptr : elf_getdata(definitions_, nullptr);
    if (data == nullptr || gelf_getshdr(definitions_, &header) == nullptr) return std::nullopt;
    size_t offset = 0;
    for (size_t i = 0; i < header.sh_info; ++i) {
      GElf_Verdef definition;
      GElf_Verdaux first;
      if (gelf_getverdef(data, static_cast<int>(offset), &definition) == nullptr) return std::nullopt;
      if (definition.vd_ndx == index) {
        const auto* found = gelf_getverdaux(data, static_cast<int>(offset + definition.vd_aux), &first);
        const char* name = found == nullptr ? nullptr : elf_strptr(elf_.get(), header.sh_link, first.vda_name);
        return name == nullptr ? std::nullopt : std::optional<std::string>(name);
      }
      if (definition.vd_next == 0) return std::nullopt;
      offset += definition.vd_next;
    }
    return std::nullopt;
  }

  void readSymbols() {
    GElf_Shdr header;
    Elf_Data* data = dynamic_symbols_ == nullptr ? nullptr : elf_getdata(dynamic_symbols_, nullptr);
    if (data == nullptr || gelf_getshdr(dynamic_symbols_, &header) == nullptr || header.sh_entsize == 0) {
      error_ = "has no dynamic symbols: it is malformed, or linked statically";
      return;
    }
    // What a program defines is copied from libraries, with their versions; nobody links with it.
    if (kind_ == ElfKind::kProgram) return;
    Elf_Data* versions = versions_ == nullptr ? nullptr : elf_getdata(versions_, nullptr);
    const size_t count = std::min<size_t>(header.sh_size / header.sh_entsize, kMaxSymbols);
    for (size_t i = 1; i < count && error_.empty(); ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
      const auto binding = GELF_ST_BIND(symbol.st_info);
      if (symbol.st_shndx == SHN_UNDEF || binding == STB_LOCAL) continue;
      GElf_Versym version = VER_NDX_GLOBAL;
      if (versions != nullptr && gelf_getversym(versions, static_cast<int>(i), &version) == nullptr) {
        error_ = "is malformed: a symbol has no version entry";
      }
      takeSymbol(header, symbol, version);
    }
    std::sort(file_.symbols.begin(), file_.symbols.end(), [](const AbiSymbol& a, const AbiSymbol& b) {
      return a.name != b.name ? a.name < b.name : a.version < b.version;
    });
  }

  void takeSymbol(const GElf_Shdr& header, const GElf_Sym& symbol, GElf_Versym version) {
    constexpr GElf_Versym kHidden = 0x8000;
    const char* name = elf_strptr(elf_.get(), header.sh_link, symbol.st_name);
    if (name == nullptr) {
      error_ = "is malformed: the name of a symbol is not there";
      return;
    }
    const auto index = static_cast<GElf_Half>(version & ~kHidden);
    const auto type = GELF_ST_TYPE(symbol.st_info);
    AbiSymbol out;
    out.name = name;
    out.by_default = (version & kHidden) == 0;
    out.kind = type == STT_FUNC || type == STT_GNU_IFUNC ? "function" : "object";
    if (index > VER_NDX_GLOBAL) {
      const auto version_name = versionOf(index);
      if (!version_name) {
        error_ = fmt::format("is malformed: {} has a version that is defined nowhere", escapeForTerminal(name));
        return;
      }
      out.version = *version_name;
    }
    // The symbol of a version node itself, which has the node's name.
    if (symbol.st_shndx == SHN_ABS && out.name == out.version) return;
    file_.symbols.push_back(std::move(out));
  }

  std::string& bytes_;
  ElfFile& file_;
  ElfKind kind_;
  std::unique_ptr<Elf, EndElf> elf_;
  Elf_Scn* dynamic_symbols_ = nullptr;
  Elf_Scn* versions_ = nullptr;
  Elf_Scn* definitions_ = nullptr;
  std::string error_;
};

}  // namespace

std::string readElfBytes(std::string& bytes, ElfFile& file, ElfKind kind) {
  return Reader(bytes, file, kind).read();
}

tl::expected<ElfFile, std::string> readElfFile(const std::string& path, ElfKind kind) {
  const auto wrong = [&](const std::string& what) { return tl::unexpected(escapeForTerminal(path) + " " + what); };
  auto bytes = readBytes(path);
  if (!bytes) return wrong(bytes.error().starts_with("is ") ? bytes.error() : "cannot be read: " + bytes.error());
  ElfFile file;
  file.path = path;
  if (const std::string error = readElfBytes(*bytes, file, kind); !error.empty()) return wrong(error);
  return file;
}

std::string loadablePath(const ElfFile& library) {
  std::error_code error;
  return std::filesystem::absolute(library.path, error).string();
}

bool looksLikeElf(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, SELFMAG> start{};
  return fd && read(fd.get(), start.data(), start.size()) == SELFMAG && std::equal(start.begin(), start.end(), ELFMAG);
}

std::string sanitizerRuntimes(const ElfFile& library) {
  std::string runtimes;
  for (const std::string& needed : library.needed) {
    if (needed.starts_with("libasan.so") || needed.starts_with("libtsan.so")) {
      runtimes += (runtimes.empty() ? "" : " ") + needed;
    }
  }
  return runtimes;
}

}  // namespace tent::tool
