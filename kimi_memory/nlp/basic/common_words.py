"""Common words: what any text may say, so that it tells little of what a text is about.

Stems of English words, Chinese characters and pairs, as the bundled `split_words` yields
them; those that are frequent in at least two of several kinds of text (chats, messages,
manuals, articles, encyclopaedias), and those that prompts are made of.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

_MOST_EN = (
    "1 10 12 15 2 20 3 30 4 5 add alreadi answer around back base book bring build busi call care "
    "chang chat check clean cli code come command communiti connect creat current data day "
    "default detail differ directori display document each enjoy event experi explain explor "
    "famili feel few file find first format free friend generat get git give go good got great "
    "group hear help home id idea import inform inspir interest issu keep key know last learn let "
    "life like list live local long look lot made main make man manag mean much must name need "
    "new next now one output packag path peopl person photo place plan pleas print process "
    "progress project provid question read realli recent releas rememb remind remov return review "
    "right run search see session set share show sign sinc sound sourc special specif start step "
    "still store stori success system tabl take team tell test text thank think time togeth took "
    "total translat tri trip two understand updat usag use user version view want watch way week "
    "well work write year"
)
_MORE_EN = (
    "0 00 05 08 09 11 14 16 17 18 19 25 28 38 40 45 50 6 7 8 9 accept action activ actual addit "
    "address advic alway anoth app applic approach area art ask avail balanc best better bit bowl "
    "branch brand break case celebr class clear cloth cloud color com compil complet comprehens "
    "comput consid consist contain content continu custom depend design desk devic direct doc "
    "down drive dure edit effect els enabl end energi ensur environ especi even everyth exampl "
    "exchang execut exist express feedback felt fill final finish floor focus follow food forward "
    "found front full function futur game goal handl happi health histori hold hope imag impact "
    "improv includ info input intens interfac job join journey kind late later latest level light "
    "line locat log mani map matter meet messag method mind mode moment month move multipl music "
    "natur net note notic number observ offer onlin open opportun option organiz origin page part "
    "pass pay perfect play posit post power prompt proper push quit rang reach real recommend "
    "record refer relax request requir result road room safe save saw say screen script seem "
    "select self sens seri servic shell size small someth soon spot stand status stay storag "
    "strength strong structur summari support sure tag talk tap target task thing thought three "
    "tool top track train travel true truli turn type url valu via video visit wait walk went "
    "white window wish without worri"
)
_LESS_EN = (
    "01 02 03 06 07 13 21 22 24 35 55 abl access account achiev across adapt affect age agre ai "
    "alia allow along alright amaz anim anyth anytim api appli appreci archiv assist atmospher "
    "audio authent automat avoid away background backup beauti becom bed behind between binari "
    "black block blue board bodi bond box ca cach calcul career catch caus center certif challeng "
    "charact choos citi client close collect combin comfort comment commit condit confer confid "
    "config configur confirm consol context control convers convert cook cool copi correct cover "
    "coverag creativ cross crucial cultur date debug decid decis defin definit descript desktop "
    "destin detect determin dev develop disabl discov draw earli easi eat echo email emot enough "
    "enter entir entri env error etc everi everyon exact exam excit exclud exclus exec exercis "
    "expect extract face fail fall fan fashion featur festiv field figur filenam film filter fix "
    "flag flow forget fund gain gh given glad glass global ground growth hand hang happen hard "
    "hash head header heart hey hidden high hous ice ident ignor immedi implement impress incred "
    "index initi insid instal instanc instead integr intent interact internal invest involv item "
    "joy label larg launch leav len limit link littl load logic loss love machin manual market "
    "match may md meal memori mention merg might milk miss mix monitor neighborhood network never "
    "news nice night normal notebook object ok okay old oper order os other outsid paid paramet "
    "park parti past pattern per perform phase phone physic pick piec plate platform point polici "
    "potenti pre present pretti problem proceed profil program promot properti publish pull put "
    "quiet quot rais readi reason recip red regist registr registri regular relat relev remain "
    "remot repo report research resourc resum ride risk root rough routin rush said scan scenario "
    "season second section secur seen send sent serv setup sh sha shot side signatur similar "
    "simpl singl sit situat skill skip smile softwar someon space specifi speed spend sport "
    "spread stage star state statist stdout stick stop stress string studi studio stun style "
    "suggest sunset sweet tech templat termin theme thorough titl today token touch toward "
    "transit tree txt unit upgrad us usual util valid variabl verifi wall water welcom whether "
    "width wooden word worth written yellow yes yet young zone"
)
_MOST_HAN = (
    "一万三上下不专且业东两中主久义乐习书买事二云互交产亮亲人什仅今付代令件价任份休众优会伟传"
    "估伸似但位低住体何作佳使例供便保信修候值偏做停健储像儿允元充先光免入全公共关兴具养内再写"
    "冯冲决况净准减几出击分切划列则刚创初利别制刻前力办功加务动助势包化区医升午半华协单卖南博"
    "卡即厅历压原去参又友双反发取受变口古另只叫可台史号司吃合同名后向否含听启吸告员周味命品响"
    "哥哪售商善喜器四回因团园围固国图圈场均坐块坚型城域基境增处备复外多夜够大天太头奏套好如始"
    "子字存季学宅安完定宝实审客室家容密富察导将尊小少尝尤尽尾局层居屏展属山峰州工差己已币市布"
    "师希带帮常幕干平年并广庆序库应底店度庭康延建开异式引张强当录形彩影往待律微德心必志快念态"
    "怎思急性总恢息情惯想意感慢成战截户房所手才打执找技投护报担拉拍择括持指按挑换据排探接控推"
    "描提搭摄操支收改放政效教散敬数整文料断新方旁旅无日早时明易星显晚晨景更最月朋服望期木未末"
    "本术机杂权李材束条来杯松板极构析林果架某查标校样核根格案桌检楼概模次欢款正此步武段母每比"
    "毕民气水永求汇汉江沙沟没油法波注泰洁活流测海消深添清温港游湖源满潜潮激灵点热然照爱父片版"
    "牌牛物特状独率王玩环现班球理生用由电画界留略疗白益监盖盘目直相看真知短石码研础硬确示社票"
    "离秀秋种科积称程稳究空穿突窗立站端笔符第等筑策简算管米类精系素索紧红约级纪纯纳线练组细终"
    "经结给络统续维绿缓编网置美群老考者职联聚肉股背胸能脑脚自至致航色艺节花英草荐荣获营落藏虑"
    "虽蛋融血行街衣补表装西要见观规视览觉角解言誉计订认讨训议记讲许论设访证评识译试话该语说请"
    "读课谁调谢象负财责货质购费资走起超趋趣足跑跟路身车转轮软轻载较辑输边达过运近还进远连追送"
    "适选透途通速造逻道避部配酒采释里重量金针钟钱银铺销错键镜长门问间阅队防阳阶附际陈降限院除"
    "险随集雨雪零雷需露静非靠面音页项顺顾预领颈频题额风飞食餐馆首香马驾验高鱼鸡黄齐"
)
_MOST_PAIRS = (
    "一个一些一份一次一步一种一起上的下来不会不同不是不足专业两个个人中心中的为什主要主题也可"
    "习惯了一了解产品什么今日以下价值任何会议但是体的作为作者你可使用例如保持信息允许公司公里"
    "关于关注内容况下几个出来分析分钟利用别是办公功能包含包括化的历史压力参考发布发现发行另外"
    "可以可能同时同的后的命令哪个哪些哪家哪种哪里喜欢因为因此地方地点城市基于基础增加处理多少"
    "好的如何如果学习安全安排完全完成定的实际小时工作工具已经市场希望帮助并不并且应用应该建立"
    "建筑建议开发开始形成影响很多心的快速怎么怎样性的恢复情况意思感觉成了成功或者所以所有执行"
    "报告持续控制推出提供操作支持效果数据文件新的方便方向方式方法方面时候时间是一是不是否是谁"
    "显示更多更新最后最近有一服务来的查看样的根据模式正在每个比较没有注意活动然后版本特别状态"
    "环境现在生活用于用的的一的专的关的工的建的数的文的方的时的行直接相关看到知道研究确认科技"
    "第一简单管理系统线上组合结合结构统的而不背景能力能够自动自己自然获得虽然行动行的表现装备"
    "要的规划计划计算讨论训练许多设备设置设计起来超过路线身体过程运动还是还有这样这种这类这里"
    "进行连接适合选择通常通过避免部分配置里的重要针对长期问题附近除了需要非常面的项目风格"
)
_MORE_HAN = (
    "世严丰临乎五享京介仍仓伴余依侧促倾假克六兰典冷删判券勤北十千卫印卸右叶各呼址墙士声失奶宁"
    "官寻尔左幅座弹归彭径徐循忙怕您惠愿扎扩扫批承折招拟拥拿挂捕损掌撑播攻故敏斯施既春晋普智替"
    "杭档桥楚欣止毛汤沈治沿洗洲济浦浩滑演漫火烈烧熟甚畅番疑痛登百盛省眼破礼祝神福私移稍竟章笑"
    "签篇绕绝继缩罗耗肌肩肯胜舒苏范茶药蓝触讯询详误谈谱豪贴贵赖赛越距跨轩述遇邮郑酸铁链闪闲隔"
    "障难雅青须饮饰骤骨鲜麦黑默龙"
)
_MORE_PAIRS = (
    "一下一天一套一定一家一样一点上午上有上面下一下的不少不能不过与同业的东西个月为一之一之前"
    "之后之间事情人员人的以使以用们可们将价格任务位置住宅作品作的例子供了供应保存信号修改先生"
    "全面关系兴趣其中内部决定出发出现出的划的创建到一到达前的力的力量加入动作动的区域医疗升级"
    "单的原创参加参数受到变化另一只是可用各种合作合同后期启动启发启用周期商业器的固定国际在一"
    "基本增长多个多数多的大众大多大家大的大量天气如下存储完整定义实是实现客户家中容易对比将会"
    "尝试尤其就可屏幕展示左右差异己的带来常用平台年度度的建一当前很大必须性和意味意的成一成为"
    "成就成果成长手机才能找到技术指定挑战探讨推荐推进提升收到收藏改变政策故事效率数字文章方案"
    "旁边早上时可时的明天明显是关晚上更好更改更有最新最终有任有效有时有更有限期的未来本地本的"
    "本身机会机构来看来说构建标准核心案例检查概念模型正常步的步骤每天每日比例比如注的添加点和"
    "照片特定特性特色现有理的甚至生成用了由于电子电脑电话的主的事的人的代的优的体的信的内的分"
    "的发的命的基的安的实的家的小的开的情的感的成的所的收的新的日的最的特的理的用的目的第的系"
    "的网的自的规的角的资的路的长的问的风的高目前目标目的相对知识确保确定社区稳定空间突出立即"
    "符合第三第二类似类型系列经理结束结果继续编辑网站网络考虑而且职业联系肯定能会获取要求观察"
    "观点角度解决认为语言说的课程质量购买购物资料趋势足够路上运营运行这一这两这次进入逻辑遇到"
    "采用释放重新重点间不间的阶段集中需求预计领域首先"
)
_LESS_HAN = (
    "串丹举乱争井亚仪企伙伤俊倒借债偶傅兼册冒冬冰凯函刺剧剩剪励劳匹占厚厨叠吴呈咖咨啡噪圆圣坊"
    "培堂塞夹奋女妙姿娜媒孙宇宜宽宿封屋岳岸川巴府廓弱彻征徒忆恭愉懂戏托扣抓抗抵抽拆拓拾振捉捷"
    "插搜搞携摘救旦旧映晓暂暗曲杨杰柜树框梅梯棒森植歇歌氧池汽沉沪河泛泡洋洞派浏涉润涨液涵淘淡"
    "混渐湿溪滨漏澳灯灰烤焦煮琪申病盒碎碑磁秒租稿竞答筹箱籍粉糖累繁纠纸织绍绩绪缺翻脂腹般良菜"
    "菲著蒸蔬薄虚覆警诉诊词谨谷豆贝赞跃踪轨辅辆辰迎返迹退逐遍遗邀野鉴锁锐镇闭闻阴阿陆陪隐震顶"
    "顿饭驱驶骑鹰麻"
)
_LESS_PAIRS = (
    "一位一切一张一是一直一般一部三个三大上了下了下午不一不仅不可不知不要不适不错不需专属专门"
    "世界两人两者个可个小个新个方个时个更个特个简个非中书中使中有丰富为主主动主机也不也会书籍"
    "了新事务事实交易产业产的人们人民人物仅仅介绍仍然令人以便以分以前以通们一件的企业休闲优势"
    "优质会在会很会被传统但不但它但我体现体系体重体验作中你不供的便利保护保留保险信任信心信用"
    "值得值的倾向做的儿子充分入口公室共同关心关键关闭其实其次具体具有决策准备减少几乎出了分享"
    "分的分类分配切换列出列表创作创造别的制作前往动力助于助你区的协议单独即使即可即将即时原因"
    "参与又有及时反而发展发生发送变得变成只有只需可行可见司的合理合适同事同样名为名称后一听到"
    "吸引告诉周边和一和家和绿咖啡咨询品牌品的响应商务回去回家回来团队围绕国家在下在客在家在小"
    "在本在高地图场的坚持型的域的处的复杂外的大小天在天空如此存在宅小完善官方定了定性定期实用"
    "实的室内家人家的家里导致将于将其小区小型就会就像尽管展现属性已不已完已成已确布了带有常有"
    "常见平均年的年轻广场店铺度和康复建的开放式的弹性强化强烈强的当然很好很重得不得更心率心理"
    "态度性地性格想到想法意识感到成的战略户的所需打印打开打算扫描投入担心拥有指导按照据库探索"
    "接下提出提到提前搭配支撑改善改进放在效的整个整体整的整齐文化文档新增新鲜无法无论日期日的"
    "是可是如是最是非是高更加更是更高最佳最大最好最重有关有助有意期间本文机制机器机场机的材料"
    "条件条款来了来源来自某些查找查询标是标的格的框架案的桌面森林模块欢迎正好正式正是正确母亲"
    "每次沟通活跃流行流量测试浏览消息涉及深入清洁游戏源的满足潜在澳门点击点是热门然而版的物业"
    "特点状况独特独立现了现代现场理了理员理性理解理论用一用以用户用手用时用来用这申请白天白色"
    "的不的东的交的任的会的作的光的几的功的动的原的参的反的可的合的同的商的图的城的复的大的客"
    "的市的平的年的应的影的心的思的意的报的机的核的模的流的热的照的生的电的科的程的精的细的经"
    "的结的老的职的街的观的计的话的调的车的过的运的选的部的重的金的需的预相信相同看来看看真实"
    "真正着一种方科学积极移动程中稍后立一立刻等等策略紧张紧急红烧线下组织细的终于终端经典经常"
    "经验给了统中续的维护维持置的者的而非股票能保能在能是能有能的能量自由至少色彩色的范围荣誉"
    "营业蔬菜蛋白行为表达装饰西兰要使要在要是覆盖见的视觉视频解释认可记录论的设定访问评论详细"
    "说明请求读书调整负责责任费用资源资讯趣的距离路径身份车辆转换轮廓软件轻松较好输入输出达成"
    "过去近的返回还可这篇进一进程追求适用适的透过途中通用通的速度道路邀请那边邮件部门都可配合"
    "里有量的金额链接销售错误阅读际上限公限制面包面和面对面有音乐页面顺利预留预算频率题的额外"
    "餐厅高峰高度高的高级"
)


@cache
def commonness() -> Mapping[str, float]:
    """Return how little each common word tells: 1 for nothing; words not in it tell all."""
    found: dict[str, float] = {}
    for weight, english, han, pairs in (
        (1.0, _MOST_EN, _MOST_HAN, _MOST_PAIRS),
        (2 / 3, _MORE_EN, _MORE_HAN, _MORE_PAIRS),
        (1 / 3, _LESS_EN, _LESS_HAN, _LESS_PAIRS),
    ):
        both = (pairs[at : at + 2] for at in range(0, len(pairs), 2))
        found |= dict.fromkeys((*english.split(), *han, *both), weight)
    return found
